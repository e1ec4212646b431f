import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { type CrudService, naming, startCrud, success, wrongFields } from './service.js';

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

@Entity()
class Faq {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 60 })
  q!: string;

  @Column({ length: 60 })
  page!: string;
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
  'double "quote"',
  'semi; colon',
  '[bracket]',
  'Äpfel',
  'МОСКВА',
  'emoji 😀 here',
  'new\nline',
  '  spaced  ',
  'ΣΊΣΥΦΟΣ',
  'term0 :term0 $1 ?',
  '*star*',
  '^caret$',
];

describe.each(DATABASES)('on %s', (database) => {
  describe.each(PLATFORMS)('and %s', (platform) => {
    let service: CrudService;
    beforeAll(async () => {
      const searchableFields = ['name', 'note', 'label', 'maker.town'];
      service = await startCrud(platform, {
        database,
        resources: [
          { entity: Article, endpoint: '/api/articles', enableSearch: true, enablePagination: true, searchableFields },
          { entity: Article, endpoint: '/api/unpaged', enableSearch: true, searchableFields: ['name'] },
          { entity: Faq, endpoint: '/api/faqs', enableSearch: true, searchableFields: ['q'] },
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

    it.each([
      ['pen', ['Fountain Pen', 'pencil', 'PENDANT lamp']],
      ['PEN', ['Fountain Pen', 'pencil', 'PENDANT lamp']],
      ['pEnC', ['pencil']],
      ['Fountain Pen', ['Fountain Pen']],
      ['n P', ['Fountain Pen']],
      ['ENCI', ['pencil']],
      ['nothing like it', []],
    ])('[4.5] %p is found wherever it stands, whatever its case', async (name, names) => {
      expect(await found({ name })).toEqual(names);
    });

    it.each([
      ['%', ['100% wool']],
      ['0% w', ['100% wool']],
      ['p%n', []],
      ['%%', []],
      ['_', ['50_50 mix']],
      ['p_n', []],
      ['__', []],
      ['!', ['bang! tape']],
      ['!%', []],
      ['!_', []],
      ['!!', []],
      ['\\', ['back\\slash']],
      ['\\s', ['back\\slash']],
      ['\\\\', []],
      ['\\%', []],
      ["'", ["O'Hara"]],
      ["''", []],
      ['"', ['double "quote"']],
      [';', ['semi; colon']],
      ['[', ['[bracket]']],
      ['[a-z]', []],
      ['*', ['*star*']],
      ['^', ['^caret$']],
      ['.*', []],
      ['?', ['term0 :term0 $1 ?']],
      ['$1', ['term0 :term0 $1 ?']],
      [':term0', ['term0 :term0 $1 ?']],
      ['\n', ['new\nline']],
      ['  ', ['  spaced  ']],
      ['😀', ['emoji 😀 here']],
    ])('[4.5] %p is literal', async (name, names) => {
      expect(await found({ name })).toEqual(names);
    });

    it.each([
      "' OR '1'='1",
      "'; DROP TABLE article; --",
      "' UNION SELECT secret FROM article --",
      '" OR ""="',
      "\\' OR 1=1 #",
      '%27 OR 1=1',
      "') OR (1=1",
      '/* */',
      '${7*7}',
      '{{7*7}}',
      '\u2019 OR 1=1',
    ])('[4.5] the text %p is a text and nothing else', async (name) => {
      expect(await found({ name })).toEqual([]);
      expect(await found({ q: name })).toEqual([]);
      expect((await service.get('/api/articles')).json.metadata.pagination.total).toBe(NAMES.length);
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

    it('[4.5] letters outside ASCII are found as they are written', async () => {
      expect(await found({ name: 'Äpf' })).toEqual(['Äpfel']);
      expect(await found({ name: 'МОСК' })).toEqual(['МОСКВА']);
    });

    const folds = database === 'sqlite' ? 'only where their case is the same, as documented' : 'whatever their case';
    it(`[4.5] letters outside ASCII are found ${folds}`, async () => {
      const expected = (name: string) => (database === 'sqlite' ? [] : [name]);
      expect(await found({ name: 'äpf' })).toEqual(expected('Äpfel'));
      expect(await found({ name: 'моск' })).toEqual(expected('МОСКВА'));
      expect(await found({ name: 'σίσυφο' })).toEqual(expected('ΣΊΣΥΦΟΣ'));
      // And the ASCII letters of such a text fold anywhere.
      expect(await found({ name: 'ÄPFEL' })).toEqual(['Äpfel']);
    });

    it('[4.5] a form-encoded plus is a space', async () => {
      const { json } = await service.get('/api/articles/search?name=Fountain+Pen');
      expect(json.data).toHaveLength(1);
    });

    it.each<[string, string[]]>([
      ['', ['q']],
      ['page=1', ['q']],
      ['name=', ['name']],
      ['q=', ['q']],
      ['name=pen&note=', ['note']],
      ['name=&note=', ['name', 'note']],
      ['name', ['name']],
      ['price=1', ['price']],
      ['id=1', ['id']],
      ['secret=hidden', ['secret']],
      ['name=pen&secret=hidden', ['secret']],
      ['nmae=pen', ['nmae']],
      ['name=pen&colour=red', ['colour']],
      ['NAME=pen', ['NAME']],
      ['name[]=pen', ['name[]']],
      ['maker=Ulm', ['maker']],
      ['record.secret=hidden', ['record.secret']],
      ['__proto__=x', ['__proto__']],
      ['constructor=x', ['constructor']],
      ['name=pen&page=0&size=x', ['page', 'size']],
      ['nmae=pen&page=0', ['nmae', 'page']],
    ])('[4.5] the search %p is 400', async (query, fields) => {
      const named = wrongFields(await service.get(`/api/articles/search?${query}`));
      if (fields[0] === 'q' && !query.startsWith('q')) expect(named).toHaveLength(1);
      else expect(named).toEqual(fields);
    });

    it('[4.5] [4.4] the 400 of an unknown field names the known ones', async () => {
      const { json } = await service.get('/api/articles/search?nmae=pen');
      expect(json.errors[0].message).toMatch(/name.*note.*label/);
      expect(json.errors[0].message).not.toMatch(/secret/);
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

    it('[4.5] a field named q is a field like any other', async () => {
      await service.post('/api/faqs', { q: 'How many?', page: 'one' });
      await service.post('/api/faqs', { q: 'Which?', page: 'many' });
      const { json } = await service.get('/api/faqs/search?q=many');
      expect(json.data).toHaveLength(1);
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
});
