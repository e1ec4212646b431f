import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { DATABASES } from '../harness/databases.js';
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
