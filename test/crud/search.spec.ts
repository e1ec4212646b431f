import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { DATABASES, IS_MYSQL } from '../harness/databases.js';
import { linesOf, PLATFORMS } from '../harness/platforms.js';
import { StatementLog } from '../harness/statement-log.js';
import { crudError, type CrudService, naming, startCrud, success, wrongFields } from './service.js';
import { startTwins, type Twins } from './twins.js';

class Maker {
  @Column({ length: 40 })
  town!: string;
}

@Entity()
class Article {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 60 })
  name!: string;

  @Column('text', { nullable: true })
  note!: string | null;

  @Column({ name: 'label_of_it', length: 20, default: 'none' })
  label!: string;

  @Column('double precision', { default: 0 })
  price!: number;

  @Column({ select: false, default: 'hidden-token', length: 40 })
  secret!: string;

  @Column(() => Maker)
  maker!: Maker;
}

const NAMES = [
  'Fountain Pen',
  'pencil',
  'PENDANT lamp',
  '100% wool',
  '50_50 mix',
  'bang! tape',
  'back\\slash',
  "O'Hara",
  'Äpfel',
  'МОСКВА',
  'emoji 😀 here',
  'new\nline',
  'ΣΊΣΥΦΟΣ',
  'term0 :term0 $1 ?',
];

describe.each(DATABASES)('on %s', (database) => {
  let service: CrudService;
  beforeAll(async () => {
    const searchableFields = ['name', 'note', 'label', 'maker.town'] as const;
    service = await startCrud('fastify', {
      database,
      resources: [
        { entity: Article, endpoint: '/api/articles', enableSearch: true, enablePagination: true, searchableFields },
        { entity: Article, endpoint: '/api/unpaged', enableSearch: true, searchableFields: ['name'] },
      ],
    });
    for (const [index, name] of NAMES.entries())
      await service.post('/api/articles', {
        name,
        note: index < 3 ? `Note of ${name}` : null,
        label: index === 1 ? 'Wooden' : 'none',
        maker: { town: index === 2 ? 'Pencaitland' : 'Ulm' },
      });
  });
  afterAll(() => service.close());

  const found = async (query: Record<string, string>): Promise<string[]> => {
    const { status, json, text } = await service.get(`/api/articles/search?${new URLSearchParams(query).toString()}`);
    if (status !== 200) throw new Error(`${status} ${text}`);
    return json.data.map(({ name }: { name: string }) => name);
  };

  it('[4.5] finds a text anywhere in the field, in either case', async () => {
    for (const name of ['pen', 'PEN'])
      expect(await found({ name })).toEqual(['Fountain Pen', 'pencil', 'PENDANT lamp']);
    expect(await found({ name: 'n P' })).toEqual(['Fountain Pen']);
    expect(await found({ name: 'nothing like it' })).toEqual([]);
  });

  it.each([
    ['%', ['100% wool']],
    ['p%n', []],
    ['_', ['50_50 mix']],
    ['p_n', []],
    ['!', ['bang! tape']],
    ['!%', []],
    ['\\', ['back\\slash']],
    ['\\%', []],
    ["'", ["O'Hara"]],
    ["' OR '1'='1", []],
    ["') OR (1=1", []],
    ['[a-z]', []],
    ['.*', []],
    ['$1', ['term0 :term0 $1 ?']],
    [':term0', ['term0 :term0 $1 ?']],
    ['\n', ['new\nline']],
    ['😀', ['emoji 😀 here']],
  ])('[4.5] finds %j literally', async (name, names) => {
    expect(await found({ name })).toEqual(names);
  });

  it('[4.5] several fields narrow', async () => {
    expect(await found({ name: 'pen', label: 'wood' })).toEqual(['pencil']);
    expect(await found({ name: 'pen', label: 'none' })).toEqual(['Fountain Pen', 'PENDANT lamp']);
    expect(await found({ name: 'pen', note: 'pencil', label: 'none' })).toEqual([]);
  });

  it('[4.5] a text in q is found in any searchable field', async () => {
    expect(await found({ q: 'wooden' })).toEqual(['pencil']);
    expect(await found({ q: 'note of' })).toEqual(['Fountain Pen', 'pencil', 'PENDANT lamp']);
    expect(await found({ q: 'pencai' })).toEqual(['PENDANT lamp']);
    expect(await found({ q: 'penc' })).toEqual(['pencil', 'PENDANT lamp']);
  });

  it('[4.5] q and a field narrow together', async () => {
    expect(await found({ q: 'note', name: 'lamp' })).toEqual(['PENDANT lamp']);
    expect(await found({ q: 'wooden', name: 'lamp' })).toEqual([]);
  });

  it('[4.5] a column of another name in the database is searched by the name of its field', async () => {
    expect(await found({ label: 'WOOD' })).toEqual(['pencil']);
    expect(wrongFields(await service.get('/api/articles/search?label_of_it=wood'))).toEqual(['label_of_it']);
  });

  it('[4.5] a column of an embedded object is searched by its path', async () => {
    expect(await found({ 'maker.town': 'CAIT' })).toEqual(['PENDANT lamp']);
  });

  it('[4.5] null contains nothing', async () => {
    expect(await found({ note: 'null' })).toEqual([]);
    expect(await found({ note: 'o' })).toHaveLength(3);
  });

  const folds = database === 'sqlite' ? 'in the same case only, as documented' : 'in either case';
  it(`[4.5] finds letters outside ASCII ${folds}`, async () => {
    const expected = (name: string) => (database === 'sqlite' ? [] : [name]);
    expect(await found({ name: 'äpf' })).toEqual(expected('Äpfel'));
    expect(await found({ name: 'моск' })).toEqual(expected('МОСКВА'));
    expect(await found({ name: 'σίσυφο' })).toEqual(expected('ΣΊΣΥΦΟΣ'));
    // And the ASCII letters of such a text fold anywhere.
    expect(await found({ name: 'ÄPFEL' })).toEqual(['Äpfel']);
  });

  it('[4.5] a search is paged like the list', async () => {
    const { json } = await service.get('/api/articles/search?name=pen&size=2&page=2');
    const pagination = { page: 2, size: 2, total: 3, totalPages: 2 };
    expect(json).toEqual(success(naming('Article'), [expect.objectContaining({ id: 3 })], { pagination }));
    expect((await service.get('/api/articles/search?name=zzz')).json).toEqual(
      success(naming('Article'), [], { pagination: { page: 1, size: 20, total: 0, totalPages: 0 } }),
    );
    expect((await service.get('/api/articles/search?name=e&size=500')).json.metadata.pagination.size).toBe(100);
  });

  it('[4.5] without pagination a search is whole, and knows no page', async () => {
    const { json } = await service.get('/api/unpaged/search?name=pen');
    expect(json).toEqual(success(naming('Article'), expect.any(Array)));
    expect(json.data).toHaveLength(3);
    expect(wrongFields(await service.get('/api/unpaged/search?name=pen&page=1'))).toEqual(['page']);
  });

  it('[4.5] what is found has no hidden column', async () => {
    const { text } = await service.get('/api/articles/search?q=pen');
    expect(text).not.toContain('secret');
    expect(text).not.toContain('hidden-token');
    expect(await found({ q: 'hidden-token' })).toEqual([]);
  });

  it('[4.5] results are in the order of the primary key', async () => {
    await service.dataSource.getRepository(Article).update({ name: 'Fountain Pen' }, { price: 9 });
    expect(await found({ name: 'pen' })).toEqual(['Fountain Pen', 'pencil', 'PENDANT lamp']);
  });
});

/** Searches with an index: the same results as without it, and what happens where it is missing. */
describe('with an index', () => {
  @Entity('article')
  class Article {
    @PrimaryGeneratedColumn()
    id!: number;

    @Column({ length: 100 })
    title!: string;

    @Column({ type: 'text', nullable: true })
    text!: string | null;

    @Column({ type: 'int', nullable: true })
    year!: number | null;
  }

  @Entity('named')
  class Named {
    @PrimaryGeneratedColumn('uuid')
    id!: string;

    @Column({ length: 100 })
    name!: string;
  }

  const SEARCH = { enableSearch: true, searchableFields: ['title', 'text', 'year'] } as const;
  const RESOURCES = [
    { entity: Article, endpoint: '/api/indexed', ...SEARCH, searchIndex: true },
    { entity: Article, endpoint: '/api/plain', ...SEARCH },
  ] as const;

  const ARTICLES = [
    ['The quick brown fox', 'jumps over', 1999],
    ['THE LAZY DOG', null, 2000],
    ['100 % "quoted" _under_', "it's a back\\slash", null],
    ['Äpfel und Ärger', 'äpfel', 199],
    ['a', 'ab', 3],
    ['   spaces   ', 'tab\there', 19_990],
    ['🦊🦊🦊 emoji', 'NOT AND OR NEAR(x)', -199],
  ].map(([title, text, year]) => ({ title, text, year }));

  const TERMS = [
    'the',
    'THE',
    'fox',
    'ick bro',
    '199',
    '100 %',
    '"quoted"',
    '_under_',
    "it's",
    'back\\sl',
    'äpfel',
    'ÄPFEL',
  ];
  const MORE = [
    'a',
    'ab',
    '   ',
    '🦊🦊🦊',
    'AND',
    'NEAR(',
    'title:',
    '*',
    'fox*',
    '"',
    '""',
    'none at all',
    'x'.repeat(100),
  ];

  describe.each(DATABASES)('on %s', (database) => {
    let twins: Twins;
    beforeAll(async () => {
      twins = await startTwins('express', { database, entities: [Article], resources: [...RESOURCES] });
      for (const article of ARTICLES) await twins.post('/api/plain', article);
    });
    afterAll(() => twins.close());

    const expectSame = async (query: string): Promise<unknown[]> => {
      const plain = (await twins.get(`/api/plain/search?${query}`)).json;
      const indexed = (await twins.get(`/api/indexed/search?${query}`)).json;
      expect([indexed.data, indexed.message]).toEqual([plain.data, 'Article search']);
      return plain.data as unknown[];
    };

    it.each([...TERMS, ...MORE])('[10] finds the same as without the index: %j', async (term) => {
      const text = encodeURIComponent(term);
      for (const query of [`q=${text}`, `title=${text}`, `title=the&text=${text}`, `year=${text}&q=a`])
        await expectSame(query);
    });

    it('[10] finds records as they are after a write', async () => {
      const { json } = await twins.post('/api/indexed', { title: 'fresh bread', text: null, year: 1 });
      const { id } = json.data;
      expect(await expectSame('q=bread')).toHaveLength(1);
      await twins.put(`/api/indexed/${id}`, { title: 'fresh butter', text: null, year: 1 });
      expect([await expectSame('q=bread'), (await expectSame('q=butter')).length]).toEqual([[], 1]);
      await twins.del(`/api/indexed/${id}`);
      expect(await expectSame('q=butter')).toEqual([]);
    });

    if (database === 'mariadb')
      it('[10] warns that MySQL and MariaDB have no index for parts of words', () => {
        expect(linesOf(twins.repository.logs, 'warn').join()).toContain(
          `CRUD option \`searchIndex\` of Article has no effect on ${IS_MYSQL ? 'mysql' : 'mariadb'}: searches read the whole table.`,
        );
      });
    else {
      it('[10] reads the index for three characters and more', async () => {
        const logger = new StatementLog();
        const service = await startCrud('express', {
          database,
          entities: [Article],
          resources: [RESOURCES[0]],
          dataSource: { logger },
        });
        const plan = async (term: string): Promise<string> => {
          logger.take();
          await service.get(`/api/indexed/search?title=${term}`);
          const [[sql, parameters] = ['', []]] = logger.take();
          return explain(service, sql, parameters);
        };
        const index = database === 'postgres' ? /Bitmap Index Scan/ : /SCAN \w+ VIRTUAL TABLE INDEX/;
        expect(await plan('fox')).toMatch(index);
        if (database === 'sqlite') expect(await plan('fo')).not.toMatch(index);
        await service.close();
      });
    }

    const explain = async ({ dataSource }: CrudService, sql: string, parameters: unknown[]): Promise<string> => {
      if (database === 'sqlite') return JSON.stringify(await dataSource.query(`EXPLAIN QUERY PLAN ${sql}`, parameters));
      return dataSource.transaction(async (manager) => {
        // An empty table is read whole otherwise.
        await manager.query('SET LOCAL enable_seqscan = off');
        await manager.query('SET LOCAL enable_indexscan = off');
        return JSON.stringify(await manager.query(`EXPLAIN ${sql}`, parameters));
      });
    };
  });

  describe.each(PLATFORMS)('on %s', (platform) => {
    it('[10] refuses to boot without enableSearch', async () => {
      const { message } = await crudError(platform, {
        resources: [{ entity: Article, endpoint: '/api/articles', searchIndex: true }],
      });
      expect(message).toMatch(
        /^CRUD option `searchIndex` of Article must be used together with enableSearch, got no enableSearch\. /,
      );
    });

    it('[10] refuses to boot on SQLite with a UUID as primary key', async () => {
      const { message } = await crudError(platform, {
        entities: [Named],
        resources: [
          { entity: Named, endpoint: '/api/named', enableSearch: true, searchableFields: ['name'], searchIndex: true },
        ],
      });
      expect(message).toMatch(/^CRUD option `searchIndex` of Named must be used on SQLite with an id of @Primary/);
    });
  });
});
