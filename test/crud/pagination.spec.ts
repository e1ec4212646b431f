/** How the total of numbered pages is found, and what a page far behind costs. */
import { BeforeInsert, Column, DeleteDateColumn, Entity, Index, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import { startCpuClock } from '../harness/cpu-time.js';
import { DATABASES, IS_MYSQL } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { StatementLog } from '../harness/statement-log.js';
import { type CrudService, naming, startCrud, success } from './service.js';
import { startTwins, type Twins } from './twins.js';

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
  ])('[4.4] %o gives the array in data, and the page in metadata', async (query, data, pagination) => {
    const { status, json, headers } = await service.get(`/api/rows${query}`);
    expect([status, json]).toEqual([200, success(naming('Row'), data, { pagination })]);
    expect(headers['x-total-count']).toBe('145');
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
    '[4.4] with maxListSize, %s has %d records and says whether there are more: %o',
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
      const milliseconds = startCpuClock();
      const { status, json } = await service.get(`${path}?${input}=${',['.repeat(4_000)}`);
      expect([path, status, json.message]).toEqual([path, 400, naming('must be at most 4096 bytes long')]);
      expect(milliseconds()).toBeLessThan(1_000);
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

@Entity('mark')
class Mark {
  @PrimaryGeneratedColumn()
  id!: number;

  @Index()
  @Column({ type: 'int', nullable: true })
  value!: number | null;
}

@Entity('soft_mark')
class SoftMark {
  @PrimaryGeneratedColumn()
  id!: number;

  @DeleteDateColumn()
  deletedAt!: Date | null;
}

const ROWS = 20_000;

describe.each(DATABASES)('on %s', (database) => {
  const insert = (service: CrudService): Promise<unknown> =>
    service.dataSource
      .getRepository(Mark)
      .insert(Array.from({ length: 300 }, (_, value) => ({ value: value % 3 === 0 ? null : value })));

  describe('totals', () => {
    let twins: Twins;
    beforeAll(async () => {
      twins = await startTwins('express', {
        database,
        entities: [Mark, SoftMark],
        resources: [
          { entity: Mark, endpoint: '/api/marks', enablePagination: true, filterableFields: ['value'] },
          { entity: SoftMark, endpoint: '/api/soft', enablePagination: 'both' },
        ],
      });
      await insert(twins.compiled);
      await insert(twins.repository);
      await twins.query(database === 'mariadb' ? 'ANALYZE TABLE mark' : 'ANALYZE mark');
    });
    afterAll(() => twins.close());

    const pagination = async (query: string): Promise<unknown> =>
      (await twins.get(`/api/${query}`)).json.metadata.pagination;
    const exact = { page: 1, size: 20, total: 300, totalPages: 15 };

    it('[7.6] counts where nothing else is asked for', async () => {
      expect(await pagination('marks')).toEqual(exact);
      expect(await pagination('marks?count=exact')).toEqual(exact);
    });

    it('sends X-Total-Count where records were counted', async () => {
      const total = async (query: string): Promise<unknown> =>
        (await twins.get(`/api/${query}`)).headers['x-total-count'];
      expect(await total('marks?size=1')).toBe('300');
      expect(await total('marks?filter[value][isNull]=true')).toBe('100');
      expect(await total('marks?count=capped')).toBe('300');
      expect(await total('marks?count=none')).toBeUndefined();
      expect(await total('marks?pagination=cursor')).toBeUndefined();
      expect(await total('marks?count=estimated')).toBe(database === 'sqlite' ? '300' : undefined);
      expect(await total('marks/1')).toBeUndefined();
    });

    it('[7.6] with count=capped the total is exact up to 1,000', async () => {
      expect(await pagination('marks?count=capped')).toEqual(exact);
      const filtered = 'marks?count=capped&filter[value][isNull]=true';
      expect(await pagination(filtered)).toEqual({ page: 1, size: 20, total: 100, totalPages: 5 });
    });

    it('[7.6] with count=none there is no total', async () => {
      expect(await pagination('marks?count=none&page=2')).toEqual({ page: 2, size: 20 });
    });

    it("[7.6] with count=estimated the total is the planner's figure, which SQLite does not have", async () => {
      const estimated = database === 'sqlite' ? exact : { ...exact, estimated: true };
      expect(await pagination('marks?count=estimated')).toEqual(estimated);
    });

    it('[7.6] estimates where a filter is sent, or records are hidden', async () => {
      const mark = database === 'sqlite' ? {} : { estimated: true };
      const filtered = 'marks?count=estimated&filter[value][isNull]=true';
      expect(await pagination(filtered)).toEqual({ page: 1, size: 20, total: 100, totalPages: 5, ...mark });
      await twins.post('/api/soft', {});
      expect(await pagination('soft?count=estimated')).toEqual({ page: 1, size: 20, total: 1, totalPages: 1, ...mark });
    });

    it('[7.5] [8.4] hides deleted records from cursor pages', async () => {
      const { id } = (await twins.post('/api/soft', {})).json.data;
      const ids = async (): Promise<unknown[]> =>
        (await twins.get('/api/soft?pagination=cursor&fields=id')).json.data.map((each: SoftMark) => each.id);
      expect(await ids()).toContain(id);
      await twins.del(`/api/soft/${id}`);
      expect(await ids()).not.toContain(id);
    });

    it('[7.6] corrects an estimate by what the page shows', async () => {
      const last = database === 'sqlite' ? {} : { estimated: true };
      expect(await pagination('marks?count=estimated&page=4&size=90')).toEqual({
        page: 4,
        size: 90,
        total: 300,
        totalPages: 4,
        ...last,
      });
    });
  });

  it('[7.6] nothing is counted with count=none or estimated, nor for the last page', async () => {
    const logger = new StatementLog();
    const resources = [{ entity: Mark, endpoint: '/api/marks', enablePagination: true }];
    const service = await startCrud('express', { database, entities: [Mark], resources, dataSource: { logger } });
    const counts = async (count: string): Promise<number> => {
      logger.take();
      await service.get(`/api/marks?count=${count}`);
      return logger.statements.filter(([sql]) => /COUNT/i.test(sql)).length;
    };
    expect([await counts('exact'), await counts('exact&page=2')]).toEqual([0, 1]);
    for (const value of [1, 2, 3]) await service.post('/api/marks', { value });
    const sizes = ['exact&size=2', 'exact&size=2&page=2', 'exact&size=3', 'exact&size=4', 'none&size=2'];
    const counted: number[] = [];
    for (const each of sizes) counted.push(await counts(each));
    expect(counted).toEqual([1, 0, 1, 0, 0]);
    expect(await counts('estimated&size=2')).toBe(database === 'sqlite' ? 1 : 0);
    await service.close();
  });

  describe('pages of many rows', () => {
    const logger = new StatementLog();
    let service: CrudService;
    beforeAll(async () => {
      service = await startCrud('express', {
        database,
        entities: [Mark],
        resources: [{ entity: Mark, endpoint: '/api/marks', enablePagination: 'both', sortableFields: ['value'] }],
        dataSource: { logger },
      });
      const { dataSource } = service;
      const numbers = Array.from({ length: ROWS }, (_, index) => ({ value: index % 4 === 0 ? null : index % 1_000 }));
      for (let first = 0; first < ROWS; first += 1_000)
        await dataSource.getRepository(Mark).insert(numbers.slice(first, first + 1_000));
      // The primary key ascends in every order, so that a descending sort needs an index of its own.
      await dataSource.query('CREATE INDEX mark_down ON mark (value DESC, id)');
      await dataSource.query(database === 'mariadb' ? 'ANALYZE TABLE mark' : 'ANALYZE mark');
    });
    afterAll(() => service.close());

    /** Whether every statement of a page finds its rows in an index, without a sort. */
    it.each(['value', '-value'])('[7.5] every page sorted by %s comes from an index', async (sort) => {
      let after = '&pagination=cursor';
      for (let page = 0; page < 160; page += 1) {
        logger.take();
        const { json } = await service.get(`/api/marks?size=100&sort=${sort}${after}`);
        after = `&after=${json.metadata.pagination.next}`;
        if (page % 40 !== 0 && page !== 159) continue;
        for (const [sql, parameters] of logger.take()) await expectIndex(service, sql, parameters);
      }
    });

    it('[7.6] with count=capped at most 1,001 rows are counted', async () => {
      logger.take();
      const { json, headers } = await service.get('/api/marks?count=capped');
      expect(json.metadata.pagination).toEqual({ page: 1, size: 20, total: 1_000, totalPages: 50, capped: true });
      expect(headers['x-total-count']).toBeUndefined();
      const [[sql, parameters] = ['', []]] = logger.take().filter(([each]) => each.includes('COUNT'));
      const plan = await planOf(service, sql, parameters);
      const read = { sqlite: [], postgres: countedRows(plan), mariadb: readRows(plan) };
      expect(read[database].length > 0).toBe(database !== 'sqlite');
      for (const rows of read[database]) expect(rows).toBeLessThanOrEqual(1_001);
    });

    it('[7.6] corrects a capped total by what the page shows', async () => {
      const pagination = async (query: string): Promise<unknown> =>
        (await service.get(`/api/marks?count=capped&${query}`)).json.metadata.pagination;
      expect(await pagination('page=50&size=100')).toMatchObject({ total: 5_000, totalPages: 50, capped: true });
      expect(await pagination('page=223&size=90')).toMatchObject({ total: ROWS, totalPages: 223 });
    });
  });

  async function planOf({ dataSource }: CrudService, sql: string, parameters: unknown[]): Promise<string> {
    const prefix = {
      sqlite: 'EXPLAIN QUERY PLAN',
      postgres: 'EXPLAIN (ANALYZE, FORMAT JSON)',
      mariadb: IS_MYSQL ? 'EXPLAIN ANALYZE' : 'ANALYZE FORMAT=JSON',
    };
    return JSON.stringify(await dataSource.query(`${prefix[database]} ${sql}`, parameters));
  }

  async function expectIndex(service: CrudService, sql: string, parameters: unknown[]): Promise<void> {
    const plan = await planOf(service, sql, parameters);
    if (database === 'sqlite') expect(plan).not.toMatch(/SCAN|TEMP B-TREE/);
    if (database === 'mariadb') expect(plan).not.toMatch(/filesort|-> Sort/);
    const reads = { sqlite: [], postgres: [removedRows(plan)], mariadb: readRows(plan) };
    for (const read of reads[database]) expect(read).toBeLessThan(1_000);
  }

  /** The rows that each table of the plan gave on MariaDB, or each step of it on MySQL. */
  const readRows = (plan: string): number[] =>
    [...plan.matchAll(/(?:"r_rows\W+|actual time=\S+ rows=)([\d.]+)/g)].map(([, rows]) => Number(rows));

  /** PostgreSQL's rows that each step gave. */
  const countedRows = (plan: string): number[] =>
    [...plan.matchAll(/Actual Rows\W+(\d+)/g)].map(([, rows]) => Number(rows));

  /** PostgreSQL's rows that an index gave and a filter removed. */
  const removedRows = (plan: string): number =>
    Math.max(0, ...[...plan.matchAll(/Rows Removed by Filter\W+(\d+)/g)].map(([, rows]) => Number(rows)));
});
