/** Counts and aggregates on each database, through both data paths: all of them give the same values. */
import { Column, DeleteDateColumn, Entity, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import type { AggregateRow, CrudOptions, Envelope } from 'declarest';
import { DATABASES, type DatabaseName } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { crudError, type CrudService, failure, startCrud, success, wrongFields } from './service.js';
import { startTwins, type Twins } from './twins.js';

@Entity()
class Shelf {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  name!: string;
}

enum Stage {
  OPEN = 'open',
  DONE = 'done',
}

function bookOf(database: DatabaseName) {
  const isSqlite = database === 'sqlite';

  @Entity('book')
  class Book {
    @PrimaryGeneratedColumn()
    id!: number;

    @Column({ type: 'varchar', length: 20, nullable: true })
    title!: string | null;

    @Column({ type: 'int', nullable: true })
    pages!: number | null;

    @Column({ type: 'float', nullable: true })
    weight!: number | null;

    @Column({ type: 'bigint' })
    serial!: string;

    @Column({ type: 'decimal', precision: 10, scale: 2, nullable: true })
    price!: string | null;

    @Column()
    free!: boolean;

    @Column(isSqlite ? { type: 'simple-enum', enum: Stage } : { type: 'enum', enum: Stage })
    stage!: Stage;

    @Column(database === 'postgres' ? 'timestamptz' : { type: 'datetime', precision: isSqlite ? null : 3 })
    readAt!: Date;

    @Column('date')
    day!: string;

    @Column('uuid')
    code!: string;

    @ManyToOne(() => Shelf, { nullable: true })
    shelf!: Shelf | null;

    @Column({ type: 'varchar', length: 20, select: false, nullable: true })
    secret!: string | null;

    @DeleteDateColumn()
    deletedAt!: Date | null;
  }
  return Book;
}

const BOOKS = [
  ['b', 10, 0.1, '9007199254740993', '0.10', true, 'open', '2026-01-31T09:30:15.123Z', '2026-01-31', 1],
  ['a', null, 0.2, '9007199254740993', '0.20', false, 'done', '2026-01-31T09:30:15.124Z', '2025-12-31', null],
  ['B', 7, null, 5, null, true, 'done', '2024-02-29T00:00:00.000Z', '2026-02-01', 1],
  ['ä', -3, 0.3, -7, '-10.55', false, 'open', '2025-01-01T00:00:00.000Z', '2026-01-30', 2],
].map(([title, pages, weight, serial, price, free, stage, readAt, day, shelfId], index) => ({
  title,
  pages,
  weight,
  serial,
  price,
  free,
  stage,
  readAt,
  day,
  code: `0000000${4 - index}-0000-4000-8000-000000000000`,
  shelfId,
  secret: 'x',
}));

const AGGREGATED = [
  'id',
  'title',
  'pages',
  'weight',
  'serial',
  'price',
  'free',
  'stage',
  'readAt',
  'day',
  'code',
  'shelfId',
] as const;

describe.each(DATABASES)('on %s', (database) => {
  const Book = bookOf(database);
  let twins: Twins;

  const rows = async (query: string): Promise<unknown> => {
    const { status, json } = await twins.get(`/api/books/aggregate?${query}`);
    expect([status, json]).toEqual([200, success('Book aggregate', expect.any(Array))]);
    return json.data;
  };

  beforeAll(async () => {
    twins = await startTwins('express', {
      database,
      entities: [Book, Shelf],
      resources: [
        {
          entity: Book,
          endpoint: '/api/books',
          enableCount: true,
          aggregatableFields: AGGREGATED,
          filterableFields: ['title', 'pages', 'price', 'shelf.name'],
        },
        { entity: Shelf, endpoint: '/api/shelves', enableCount: true },
      ],
    });
    for (const name of ['low', 'high']) await twins.post('/api/shelves', { name });
    for (const book of BOOKS) expect((await twins.post('/api/books', book)).status).toBe(201);
    await twins.post('/api/books', { ...BOOKS[0], pages: 1_000 });
    await twins.del('/api/books/5');
  });
  afterAll(() => twins.close());

  it.each<[string, number]>([
    ['', 4],
    ['?filter[pages][gt]=0', 2],
    ['?filter[shelf.name]=low', 2],
    ['?filter[or][0][title]=a&filter[or][1][pages]=7', 2],
    ['?filter[title]=none', 0],
  ])('[7.7] counts the records of %j', async (query, count) => {
    const { status, json } = await twins.get(`/api/books/count${query}`);
    expect([status, json]).toEqual([200, success('Book count', { count })]);
  });

  it('[7.7] sums integers, floats and decimals without a loss', async () => {
    expect(await rows('sum=pages,weight,serial,price')).toEqual([
      { count: 4, sum: { pages: 14, weight: 0.6, serial: '18014398509481984', price: '-10.25' } },
    ]);
  });

  it('[7.7] averages the values that are not NULL', async () => {
    expect(await rows('avg=pages,weight,price')).toEqual([
      { count: 4, avg: { pages: 4.66666666666667, weight: 0.2, price: '-3.42' } },
    ]);
  });

  it('[7.7] answers the least and greatest values as records have them', async () => {
    const fields = AGGREGATED.filter((name) => name !== 'free').join();
    expect(await rows(`min=${fields}&max=${fields}`)).toEqual([
      {
        count: 4,
        min: {
          id: 1,
          title: 'B',
          pages: -3,
          weight: 0.1,
          serial: -7,
          price: '-10.55',
          stage: 'done',
          readAt: '2024-02-29T00:00:00.000Z',
          day: '2025-12-31',
          code: '00000001-0000-4000-8000-000000000000',
          shelfId: 1,
        },
        max: {
          id: 4,
          title: 'ä',
          pages: 10,
          weight: 0.3,
          serial: '9007199254740993',
          price: '0.20',
          stage: 'open',
          readAt: '2026-01-31T09:30:15.124Z',
          day: '2026-02-01',
          code: '00000004-0000-4000-8000-000000000000',
          shelfId: 2,
        },
      },
    ]);
  });

  it('[7.7] groups by a field, in its order, NULL last', async () => {
    expect(await rows('sum=price&groupBy=shelfId')).toEqual([
      { groupBy: { shelfId: 1 }, count: 2, sum: { price: '0.10' } },
      { groupBy: { shelfId: 2 }, count: 1, sum: { price: '-10.55' } },
      { groupBy: { shelfId: null }, count: 1, sum: { price: '0.20' } },
    ]);
  });

  it.each(AGGREGATED)('[7.7] groups by %s', async (name) => {
    const { json } = await twins.get('/api/books');
    const values = new Set(json.data.map((book: Record<string, unknown>) => book[name]));
    const groups = (await rows(`groupBy=${name}`)) as { groupBy: object; count: number }[];
    expect(groups).toHaveLength(values.size);
    expect(new Set(groups.map(({ groupBy }) => (groupBy as Record<string, unknown>)[name]))).toEqual(values);
    expect(groups.reduce((sum, { count }) => sum + count, 0)).toBe(4);
  });

  it('[7.7] groups by several fields, labels by their text', async () => {
    expect(await rows('groupBy=stage,free')).toEqual([
      { groupBy: { stage: 'done', free: false }, count: 1 },
      { groupBy: { stage: 'done', free: true }, count: 1 },
      { groupBy: { stage: 'open', free: false }, count: 1 },
      { groupBy: { stage: 'open', free: true }, count: 1 },
    ]);
  });

  it('[7.7] groups text by its code points', async () => {
    expect(await rows('groupBy=title')).toEqual(
      ['B', 'a', 'b', 'ä'].map((title) => ({ groupBy: { title }, count: 1 })),
    );
  });

  it('[7.7] aggregates what a filter leaves: no records have a count of 0 and no sums', async () => {
    expect(await rows('sum=pages&min=day&filter[price][gt]=0')).toEqual([
      { count: 2, sum: { pages: 10 }, min: { day: '2025-12-31' } },
    ]);
    expect(await rows('sum=pages,price&avg=price&min=day&filter[title]=none')).toEqual([
      { count: 0, sum: { pages: null, price: null }, avg: { price: null }, min: { day: null } },
    ]);
    expect(await rows('groupBy=shelfId&filter[title]=none')).toEqual([]);
    expect(await rows('')).toEqual([{ count: 4 }]);
  });
});

describe.each(PLATFORMS)('on %s', (platform) => {
  const Book = bookOf('sqlite');
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud(platform, {
      entities: [Book, Shelf],
      resources: [
        {
          entity: Book,
          endpoint: '/api/books',
          enableCount: true,
          aggregatableFields: ['pages', 'title', 'free', 'id'],
        },
        { entity: Shelf, endpoint: '/api/shelves' },
      ],
    });
  });
  afterAll(() => service.close());

  it.each<[string, string[]]>([
    ['aggregate?sum=title', ['sum']],
    ['aggregate?sum=free', ['sum']],
    ['aggregate?avg=title', ['avg']],
    ['aggregate?min=free', ['min']],
    ['aggregate?sum=price', ['sum']],
    ['aggregate?groupBy=secret', ['groupBy']],
    ['aggregate?groupBy=price', ['groupBy']],
    ['aggregate?sum=', ['sum']],
    ['aggregate?max=pages,pages', ['max']],
    ['aggregate?sum=pages&sum=pages', ['sum']],
    ['aggregate?sort=pages', ['sort']],
    ['aggregate?filter[pages]=1', ['filter[pages]']],
    ['count?page=1', ['page']],
    ['count?sort=title&fields=id&size=1', ['fields', 'size', 'sort']],
  ])('[7.7] [7.9] refuses %s', async (sent, fields) => {
    expect(wrongFields(await service.get(`/api/books/${sent}`))).toEqual(fields);
  });

  it('[7.7] names the fields that a parameter takes', async () => {
    const { json } = await service.get('/api/books/aggregate?sum=title');
    expect(json.errors).toEqual([{ field: 'sum', message: 'unknown field "title"; known ones are pages, id' }]);
  });

  it('[7.7] has at most 1,000 groups', async () => {
    const insert = (count: number) =>
      service.dataSource.query(
        `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
         INSERT INTO book (title, pages, serial, free, stage, readAt, day, code) SELECT i, i, 1, 1, 'open', '', '', i FROM n`,
      );
    await insert(1_000);
    expect((await service.get('/api/books/aggregate?groupBy=id')).json.data).toHaveLength(1_000);
    await insert(1);
    expect(wrongFields(await service.get('/api/books/aggregate?groupBy=id'))).toEqual(['groupBy']);
  });

  it('[7.7] has no such endpoints unless they are declared', async () => {
    for (const [name, option] of [
      ['count', 'enableCount'],
      ['aggregate', 'aggregatableFields'],
    ])
      expect((await service.get(`/api/shelves/${name}`)).json).toEqual(
        failure(`/${name} of Shelf is not enabled: set ${option}`),
      );
  });

  it.each([['secret'], ['nothing']])('[7.7] refuses to boot with %s among aggregatableFields', async (name) => {
    const { message } = await crudError(platform, {
      entities: [Book, Shelf],
      resources: [{ entity: Book, endpoint: '/api/books', aggregatableFields: [name as 'pages'] }],
    });
    expect(message).toMatch(
      /^CRUD option `aggregatableFields` of Book must be fields among id, title, .+, got "\w+"\. /,
    );
  });
});

it('[7.7] types the fields of aggregates by the entity', () => {
  const Book = bookOf('sqlite');
  const declare = (options: CrudOptions<InstanceType<typeof Book>>): unknown => options;
  const base = { entity: Book, endpoint: '/api/books' };
  declare({ ...base, aggregatableFields: ['pages', 'shelfId'] });
  // @ts-expect-error a misspelt field
  declare({ ...base, aggregatableFields: ['page'] });
  const read = ({ data }: Envelope<AggregateRow[]>): number | string | null | undefined => data[0]?.sum?.['pages'];
  expect(read).toBeDefined();
});
