/** Pages by cursor on each database, through both data paths, against the whole list in the same order. */
import { createHash } from 'node:crypto';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { DATABASES, type DatabaseName } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { type CrudService, crudError, startCrud, success, wrongFields } from './service.js';
import { startTwins, type Twins } from './twins.js';

enum Stage {
  OPEN = 'open',
  DONE = 'done',
  LATE = 'Late',
}

function recordOf(database: DatabaseName) {
  const isSqlite = database === 'sqlite';
  const moment = database === 'postgres' ? 'timestamptz' : 'datetime';

  @Entity('entry')
  class Entry {
    @PrimaryGeneratedColumn({ type: isSqlite ? 'integer' : 'bigint' })
    id!: string;

    @Column({ type: 'text', nullable: true })
    title!: string | null;

    @Column({ type: 'int', nullable: true })
    pages!: number | null;

    @Column({ type: 'float', nullable: true })
    weight!: number | null;

    @Column({ type: isSqlite ? 'real' : 'double precision' })
    ratio!: number;

    @Column({ type: 'decimal', precision: 20, scale: 4, nullable: true })
    price!: string | null;

    @Column({ type: 'bigint' })
    serial!: string;

    @Column()
    free!: boolean;

    @Column(isSqlite ? { type: 'simple-enum', enum: Stage } : { type: 'enum', enum: Stage })
    stage!: Stage;

    @Column({ type: moment, precision: isSqlite ? null : 6, nullable: true })
    readAt!: Date | null;

    @Column({ type: 'date', nullable: true })
    day!: string | null;

    @Column('uuid')
    code!: string;
  }
  return Entry;
}

const COLUMNS = [
  'title',
  'pages',
  'weight',
  'ratio',
  'price',
  'serial',
  'free',
  'stage',
  'readAt',
  'day',
  'code',
] as const;
const TITLES = ['b', 'a', null, 'Ä', 'a ', 'A', '', 'a', '🦊', 'z'.repeat(900), 'z'.repeat(901), '\uffee'];

const ROWS = Array.from({ length: 24 }, (_, index) => ({
  title: TITLES[index % TITLES.length] ?? null,
  pages: index % 3 === 0 ? null : index % 4,
  weight: index % 5 === 0 ? null : (index % 8) * 0.1,
  ratio: (index % 7) * 0.1 + 0.2,
  price: index % 6 === 0 ? null : `${index % 4}.0${index % 4}01`,
  serial: String(9007199254740990n + BigInt(index % 9)),
  free: index % 2 === 0,
  stage: Object.values(Stage)[index % 3]!,
  readAt: index % 4 === 0 ? null : `2026-01-31 09:30:15.1230${10 + (index % 5)}`,
  day: index % 3 === 0 ? null : `2026-0${1 + (index % 3)}-01`,
  code: `0000000${index % 8}-0000-4000-8000-00000000000${index % 3}`,
}));

const linkTo = (parameters: Record<string, string>): string => `/api/entries?${new URLSearchParams(parameters)}`;

describe.each(DATABASES)('on %s', (database) => {
  const Entry = recordOf(database);
  let twins: Twins;

  beforeAll(async () => {
    const fields = { sortableFields: ['id', ...COLUMNS], filterableFields: true } as const;
    twins = await startTwins('express', {
      database,
      entities: [Entry],
      resources: [
        { entity: Entry, endpoint: '/api/entries', enablePagination: 'cursor', ...fields },
        { entity: Entry, endpoint: '/api/whole', ...fields },
      ],
    });
    const table = database === 'mariadb' ? '`entry`' : '"entry"';
    for (const row of ROWS) {
      const names = Object.keys(row).map((name) => (database === 'mariadb' ? `\`${name}\`` : `"${name}"`));
      const places = names.map((_, place) => (database === 'postgres' ? `$${place + 1}` : '?'));
      const values = Object.values(row).map((value) =>
        typeof value === 'boolean' && database !== 'postgres' ? +value : value,
      );
      await twins.query(`INSERT INTO ${table} (${names.join()}) VALUES (${places.join()})`, values);
    }
  });
  afterAll(() => twins.close());

  /** The ids of all pages, one after the other. */
  async function walk(parameters: Record<string, string>): Promise<unknown[]> {
    const ids: unknown[] = [];
    for (let after: string | null | undefined; after !== null && ids.length <= ROWS.length;) {
      const { json } = await twins.get(linkTo({ ...parameters, ...(after !== undefined && { after }) }));
      expect([json.errors, json.message]).toEqual([undefined, 'Entry list']);
      ids.push(...json.data.map(({ id }: { id: unknown }) => id));
      const { next, hasNext } = json.metadata.pagination;
      expect(hasNext).toBe(next !== null);
      after = next;
    }
    return ids;
  }

  const whole = async (sort: string): Promise<unknown[]> =>
    (await twins.get(`/api/whole?sort=${sort}`)).json.data.map(({ id }: { id: unknown }) => id);

  it.each(COLUMNS.flatMap((name) => [name, `-${name}`]))(
    '[7.5] pages together are the whole list, sorted by %s',
    async (sort) => {
      const expected = await whole(sort);
      expect(expected).toHaveLength(ROWS.length);
      for (const size of ['1', '5']) expect(await walk({ sort, size, fields: 'id' })).toEqual(expected);
    },
  );

  it.each(['pages,-title', '-pages,weight,-day', 'free,-stage,pages', 'day,-id', '-id,title', '-readAt,day'])(
    '[7.5] pages together are the whole list, sorted by %s',
    async (sort) => {
      expect(await walk({ sort, size: '3', fields: 'id' })).toEqual(await whole(sort));
    },
  );

  it('[7.5] continues among the filtered records', async () => {
    const { json } = await twins.get('/api/whole?filter[free]=true&sort=-pages');
    const ids = json.data.map(({ id }: { id: unknown }) => id);
    expect(await walk({ 'filter[free]': 'true', sort: '-pages', size: '4' })).toEqual(ids);
  });

  it('[7.5] continues behind a record that was deleted', async () => {
    const first = await twins.get(linkTo({ sort: '-serial', size: '2' }));
    const [, last] = first.json.data as { id: number }[];
    const expected = (await whole('-serial')).slice(2, 4);
    await twins.del(`/api/entries/${last!.id}`);
    const second = await twins.get(linkTo({ sort: '-serial', size: '2', after: first.json.metadata.pagination.next }));
    expect(second.json.data.map(({ id }: { id: number }) => id)).toEqual(expected);
  });

  it('[7.5] refuses a cursor that only refers to a record that is gone', async () => {
    const first = await twins.get(linkTo({ sort: '-title', size: '1', 'filter[title][startsWith]': 'zz' }));
    await twins.del(`/api/entries/${first.json.data[0].id}`);
    const { next: after } = first.json.metadata.pagination;
    const second = await twins.get(linkTo({ sort: '-title', size: '1', 'filter[title][startsWith]': 'zz', after }));
    expect(wrongFields(second)).toEqual(['after']);
  });
});

@Entity()
class Item {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  name!: string;

  @Column({ type: 'int', nullable: true })
  price!: number | null;
}

const LIST = {
  entity: Item,
  sortableFields: ['name', 'price'],
  filterableFields: ['price'],
  enableSearch: true,
  searchableFields: ['name'],
} as const;

describe.each(PLATFORMS)('on %s', (platform) => {
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud(platform, {
      entities: [Item],
      resources: [
        { ...LIST, endpoint: '/api/cursor', enablePagination: 'cursor' },
        { ...LIST, endpoint: '/api/both', enablePagination: 'both' },
        { ...LIST, endpoint: '/api/numbered', enablePagination: true },
      ],
    });
    const items = Array.from({ length: 25 }, (_, index) => ({ name: `item ${index % 5}`, price: index }));
    await service.dataSource.getRepository(Item).insert(items);
  });
  afterAll(() => service.close());

  const next = async (path: string): Promise<string> => (await service.get(path)).json.metadata.pagination.next;

  it('[7.5] says how the list goes on, and null at its end', async () => {
    const first = (await service.get('/api/cursor?fields=id')).json;
    const after = first.metadata.pagination.next as string;
    expect(first).toEqual(
      success(
        'Item list',
        Array.from({ length: 20 }, (_, index) => ({ id: index + 1 })),
        { pagination: { size: 20, next: expect.stringMatching(/^[\w-]+$/), hasNext: true } },
      ),
    );
    const last = (await service.get(`/api/cursor?fields=id&after=${after}`)).json;
    const rest = [21, 22, 23, 24, 25].map((id) => ({ id }));
    expect(last).toEqual(success('Item list', rest, { pagination: { size: 20, next: null, hasNext: false } }));
    const empty = (await service.get('/api/cursor?filter[price]=-1')).json;
    expect(empty.metadata).toEqual({ pagination: { size: 20, next: null, hasNext: false } });
  });

  it("[7.5] with 'both', pages by number unless a cursor is asked for", async () => {
    const total = { total: 25, totalPages: 2 };
    expect((await service.get('/api/both')).json.metadata).toEqual({ pagination: { page: 1, size: 20, ...total } });
    const after = await next('/api/both?pagination=cursor');
    const { json } = await service.get(`/api/both?after=${after}`);
    expect([json.data.length, json.metadata.pagination]).toEqual([5, { size: 20, next: null, hasNext: false }]);
  });

  it('[7.5] pages searches by cursor too', async () => {
    const search = '/api/cursor/search?name=item%204&size=3&fields=id';
    const first = (await service.get(search)).json;
    const second = (await service.get(`${search}&after=${first.metadata.pagination.next}`)).json;
    expect([...first.data, ...second.data]).toEqual([5, 10, 15, 20, 25].map((id) => ({ id })));
  });

  it('[7.5] refuses a position that no page gives, also with a right digest', async () => {
    const forged = (position: unknown[]): string => {
      const binding = JSON.stringify([
        'Item',
        [
          ['name', false],
          ['id', false],
        ],
        'and()',
        [],
      ]);
      const digest = createHash('sha256')
        .update(JSON.stringify([position, binding]))
        .digest('base64url')
        .slice(0, 16);
      return Buffer.from(JSON.stringify([digest, position])).toString('base64url');
    };
    const page = (position: unknown[]) => service.get(`/api/cursor?sort=name&size=2&after=${forged(position)}`);
    expect((await page(['item 1', '2'])).status).toBe(200);
    for (const position of [
      [1, '2'],
      ['item 1', '2', '3'],
      [true, '2'],
      [['a'], '2'],
    ])
      expect(wrongFields(await page(position))).toEqual(['after']);
  });

  it('[7.5] takes another size and other fields with a cursor', async () => {
    const after = await next('/api/cursor?size=3&sort=-price');
    const { json } = await service.get(`/api/cursor?size=2&sort=-price&fields=id&after=${after}`);
    expect(json.data).toEqual([{ id: 22 }, { id: 21 }]);
  });

  it.each([
    ['another sort', '/api/cursor?sort=name', '/api/cursor?sort=-name'],
    ['no sort', '/api/cursor?sort=name', '/api/cursor?'],
    ['another filter', '/api/cursor?filter[price][gt]=1', '/api/cursor?filter[price][gt]=2'],
    ['another operator', '/api/cursor?filter[price][gt]=1', '/api/cursor?filter[price][gte]=1'],
    ['no filter', '/api/cursor?filter[price][gt]=1', '/api/cursor?'],
    ['another search', '/api/cursor/search?name=item', '/api/cursor/search?name=ite'],
    ['a list instead of a search', '/api/cursor/search?name=item', '/api/cursor?'],
  ])('[7.5] refuses a cursor with %s', async (_what, from, to) => {
    const after = await next(`${from}&size=2`);
    expect((await service.get(`${from}&size=2&after=${after}`)).status).toBe(200);
    expect(wrongFields(await service.get(`${to}&size=2&after=${after}`))).toEqual(['after']);
  });

  it('[7.5] refuses a cursor that was altered', async () => {
    const after = await next('/api/cursor?sort=name&size=2');
    const [digest, position] = JSON.parse(Buffer.from(after, 'base64url').toString()) as [string, string[]];
    const altered = Buffer.from(JSON.stringify([digest, ['item 3', position[1]]])).toString('base64url');
    for (const cursor of [
      altered,
      after.slice(1),
      `${after}AA`,
      `${after}%3D`,
      'x',
      '',
      '%00',
      'bnVsbA',
      'W10',
      '5',
      '%22',
    ])
      expect(wrongFields(await service.get(`/api/cursor?sort=name&size=2&after=${cursor}`))).toEqual(['after']);
  });

  it.each<[string, string[]]>([
    ['/api/both?pagination=cursor&page=1', ['page']],
    ['/api/both?after=x&page=2', ['page']],
    ['/api/both?pagination=cursor&count=none', ['count']],
    ['/api/both?pagination=number', ['pagination']],
    ['/api/both?pagination=', ['pagination']],
    ['/api/cursor?page=1', ['page']],
    ['/api/cursor?count=exact', ['count']],
    ['/api/cursor?size=0', ['size']],
    ['/api/numbered?after=x', ['after']],
    ['/api/numbered?pagination=cursor', ['pagination']],
    ['/api/numbered?count=some', ['count']],
    ['/api/numbered?count=', ['count']],
  ])('[7.5] [7.6] refuses %s', async (path, fields) => {
    expect(wrongFields(await service.get(path))).toEqual(fields);
  });

  it('[7.5] refuses to boot with another kind of pagination', async () => {
    const { message } = await crudError(platform, {
      resources: [{ entity: Item, endpoint: '/api/items', enablePagination: 'keyset' as 'cursor' }],
    });
    expect(message).toBe(
      "CRUD option `enablePagination` of Item must be true, false, 'cursor' or 'both', got \"keyset\". " +
        "Set true for page numbers, 'cursor' for cursors, or 'both'.",
    );
  });
});
