import { BeforeInsert, Column, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { type CrudService, naming, startCrud, success } from './service.js';

@Entity()
class Row {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  name!: string;
}

@Entity()
class Word {
  @PrimaryColumn({ length: 20 })
  id!: string;

  @Column({ length: 20 })
  word!: string;

  @BeforeInsert()
  setId(): void {
    this.id = this.word;
  }
}

@Entity()
class Empty {
  @PrimaryGeneratedColumn()
  id!: number;
}

const numbered = (first: number, last: number): { id: number; name: string }[] =>
  Array.from({ length: last - first + 1 }, (_, index) => ({ id: first + index, name: `row ${first + index}` }));

describe.each(DATABASES)('on %s', (database) => {
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud('fastify', {
      database,
      resources: [
        { entity: Row, endpoint: '/api/rows', enablePagination: true },
        { entity: Row, endpoint: '/api/whole' },
        { entity: Row, endpoint: '/api/cut', maxListSize: 30, enableSearch: true, searchableFields: ['name'] },
        { entity: Row, endpoint: '/api/exact', maxListSize: 145 },
        { entity: Row, endpoint: '/api/roomy', maxListSize: 146 },
        { entity: Row, endpoint: '/api/both', maxListSize: 5, enablePagination: true },
        { entity: Word, endpoint: '/api/words', enablePagination: true },
        { entity: Empty, endpoint: '/api/empty', enablePagination: true },
        { entity: Empty, endpoint: '/api/empty-cut', maxListSize: 1 },
      ],
    });
    await service.dataSource.getRepository(Row).insert(numbered(1, 145).map(({ name }) => ({ name })));
  });
  afterAll(() => service.close());

  it.each<[string, { id: number }[], object]>([
    ['', numbered(1, 20), { page: 1, size: 20, total: 145, totalPages: 8 }],
    ['?page=2', numbered(21, 40), { page: 2, size: 20, total: 145, totalPages: 8 }],
    ['?page=8', numbered(141, 145), { page: 8, size: 20, total: 145, totalPages: 8 }],
    ['?page=9', [], { page: 9, size: 20, total: 145, totalPages: 8 }],
    ['?size=29&page=5', numbered(117, 145), { page: 5, size: 29, total: 145, totalPages: 5 }],
    ['?size=101', numbered(1, 100), { page: 1, size: 100, total: 145, totalPages: 2 }],
    ['?page=9007199254740991&size=100', [], { page: 9007199254740991, size: 100, total: 145, totalPages: 2 }],
  ])('[4.4] %p gives the array in data, and the page in metadata', async (query, data, pagination) => {
    const { status, json } = await service.get(`/api/rows${query}`);
    expect([status, json]).toEqual([200, success(naming('Row'), data, { pagination })]);
  });

  it('[4.4] an empty collection has no pages', async () => {
    const { status, json } = await service.get('/api/empty');
    const pagination = { page: 1, size: 20, total: 0, totalPages: 0 };
    expect([status, json]).toEqual([200, success(naming('Empty'), [], { pagination })]);
  });

  it('[4.4] all pages together hold every record once, in the order of the primary key', async () => {
    const pages = await Promise.all([1, 2, 3, 4, 5].map((page) => service.get(`/api/rows?size=30&page=${page}`)));
    expect(pages.flatMap(({ json }) => json.data as unknown[])).toEqual(numbered(1, 145));
  });

  it('[4.4] the order is by primary key, whatever was changed last, and whatever its type', async () => {
    for (const word of ['pear', 'apple', 'fig', 'date']) await service.post('/api/words', { word });
    await service.put('/api/words/apple', { word: 'zzz' });
    const ids = async (query: string) =>
      (await service.get(`/api/words${query}`)).json.data.map((each: { id: string }) => each.id);
    expect(await ids('')).toEqual(['apple', 'date', 'fig', 'pear']);
    expect(await ids('?size=3&page=2')).toEqual(['pear']);
  });

  it('[4.4] without pagination the list is whole and has no metadata', async () => {
    const { json } = await service.get('/api/whole');
    expect(json).toEqual(success(naming('Row'), numbered(1, 145)));
  });

  it.each([
    ['/api/cut', 30, true],
    ['/api/exact', 145, false],
    ['/api/roomy', 145, false],
  ])(
    '[4.4] with maxListSize, %s has %d records and says whether there are more: %p',
    async (path, count, truncated) => {
      const { status, json } = await service.get(path);
      expect([status, json]).toEqual([200, success(naming('Row'), numbered(1, count), { truncated })]);
    },
  );

  it('[4.4] with maxListSize, an empty list is not truncated', async () => {
    expect((await service.get('/api/empty-cut')).json).toEqual(success(naming('Empty'), [], { truncated: false }));
  });

  it('[4.4] [4.5] with maxListSize, an unpaged search is cut like the list', async () => {
    const cut = (await service.get('/api/cut/search?name=row')).json;
    expect([cut.data, cut.metadata]).toEqual([numbered(1, 30), { truncated: true }]);
    const few = (await service.get('/api/cut/search?name=row%2014')).json;
    expect([few.data.length, few.metadata]).toEqual([7, { truncated: false }]);
  });

  it('[4.4] with pagination, it is the page that bounds a list', async () => {
    const { json } = await service.get('/api/both?page=2');
    expect(json).toEqual(
      success(naming('Row'), numbered(21, 40), { pagination: { page: 2, size: 20, total: 145, totalPages: 8 } }),
    );
  });
});

it.each(PLATFORMS)('[7.9] on %s, every operation takes a query string of at most 4,096 bytes', async (platform) => {
  const resource = {
    entity: Row,
    endpoint: '/rows',
    enableSearch: true,
    searchableFields: ['name'],
    filterableFields: ['name'],
    sortableFields: ['name'],
    aggregatableFields: ['id'],
    enablePagination: 'both',
    enableCount: true,
    enableExport: true,
  } as const;
  const service = await startCrud(platform, { entities: [Row], resources: [resource] });
  await service.post('/rows', { name: 'a' });
  const filter = 'filter[name][ne]=';
  const text = (bytes: number): string => `${filter}${'x'.repeat(bytes - filter.length)}`;
  for (const path of ['/rows', '/rows/count', '/rows/aggregate']) {
    expect([path, (await service.get(`${path}?${text(4_096)}`)).status]).toEqual([path, 200]);
    expect([path, (await service.get(`${path}?${text(4_097)}`)).status]).toEqual([path, 400]);
  }
  const inputs = [
    'x',
    'filter[name]',
    'filter',
    'sort',
    'after',
    'fields',
    'include',
    'sum',
    'q',
    'filter[or][0][name][in]',
  ];
  for (const path of ['/rows', '/rows/1', '/rows/search', '/rows/count', '/rows/aggregate', '/rows/export'])
    for (const input of inputs) {
      const started = performance.now();
      const { status, json } = await service.get(`${path}?${input}=${',['.repeat(4_000)}`);
      expect([path, status, json.message]).toEqual([path, 400, naming('must be at most 4096 bytes long')]);
      expect(performance.now() - started).toBeLessThan(1_000);
    }
  expect((await service.del(`/rows/1?${'x'.repeat(4_097)}`)).status).toBe(400);
  expect((await service.get('/rows/1')).status).toBe(200);
  await service.close();
});

it('[4.4] [7.9] answers a wrong query with 400, naming at most 20 parameters', async () => {
  const service = await startCrud('express', { entities: [Row], resources: [{ entity: Row, endpoint: '/rows' }] });
  const names = Array.from({ length: 30 }, (_, index) => `p${index}`);
  const { status, json } = await service.get(`/rows?${names.join('&')}`);
  expect([status, json.errors.length, json.errors[20]]).toEqual([400, 21, { field: '', message: '… and 10 more' }]);
  await service.close();
});
