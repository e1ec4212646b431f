/** How the total of numbered pages is found, and what a page far behind costs. */
import { Column, DeleteDateColumn, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { StatementLog } from '../harness/statement-log.js';
import { type CrudService, startCrud } from './service.js';
import { startTwins, type Twins } from './twins.js';

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

    it('[7.6] with count=none there is no total', async () => {
      expect(await pagination('marks?count=none&page=2')).toEqual({ page: 2, size: 20 });
    });

    it("[7.6] with count=estimated the total is the planner's figure, which SQLite does not have", async () => {
      const estimated = database === 'sqlite' ? exact : { ...exact, estimated: true };
      expect(await pagination('marks?count=estimated')).toEqual(estimated);
    });

    it('[7.6] counts where a filter is sent, or records are hidden', async () => {
      const filtered = 'marks?count=estimated&filter[value][isNull]=true';
      expect(await pagination(filtered)).toEqual({ page: 1, size: 20, total: 100, totalPages: 5 });
      await twins.post('/api/soft', {});
      expect(await pagination('soft?count=estimated')).toEqual({ page: 1, size: 20, total: 1, totalPages: 1 });
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

  it('[7.6] with count=none or estimated nothing is counted', async () => {
    const logger = new StatementLog();
    const resources = [{ entity: Mark, endpoint: '/api/marks', enablePagination: true }];
    const service = await startCrud('express', { database, entities: [Mark], resources, dataSource: { logger } });
    const counts = async (count: string): Promise<number> => {
      logger.take();
      await service.get(`/api/marks?count=${count}`);
      return logger.statements.filter(([sql]) => /COUNT/i.test(sql)).length;
    };
    expect([await counts('exact'), await counts('none')]).toEqual([1, 0]);
    expect(await counts('estimated')).toBe(database === 'sqlite' ? 1 : 0);
    await service.close();
  });

  describe('pages of many rows', () => {
    const logger = new StatementLog();
    let service: CrudService;
    beforeAll(async () => {
      service = await startCrud('express', {
        database,
        entities: [Mark],
        resources: [{ entity: Mark, endpoint: '/api/marks', enablePagination: 'cursor', sortableFields: ['value'] }],
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
      let after = '';
      for (let page = 0; page < 160; page += 1) {
        logger.take();
        const { json } = await service.get(`/api/marks?size=100&sort=${sort}${after}`);
        after = `&after=${json.metadata.pagination.next}`;
        if (page % 40 !== 0 && page !== 159) continue;
        for (const [sql, parameters] of logger.take()) await expectIndex(service, sql, parameters);
      }
    });
  });

  async function expectIndex({ dataSource }: CrudService, sql: string, parameters: unknown[]): Promise<void> {
    const prefix = {
      sqlite: 'EXPLAIN QUERY PLAN',
      postgres: 'EXPLAIN (ANALYZE, FORMAT JSON)',
      mariadb: 'ANALYZE FORMAT=JSON',
    };
    const plan = JSON.stringify(await dataSource.query(`${prefix[database]} ${sql}`, parameters));
    if (database === 'sqlite') expect(plan).not.toMatch(/SCAN|TEMP B-TREE/);
    if (database === 'mariadb') expect(plan).not.toMatch(/filesort/);
    const reads = { sqlite: [], postgres: [removedRows(plan)], mariadb: readRows(plan) };
    for (const read of reads[database]) expect(read).toBeLessThan(1_000);
  }

  /** MariaDB's rows that each table of the plan gave. */
  const readRows = (plan: string): number[] =>
    [...plan.matchAll(/"r_rows\W+([\d.]+)/g)].map(([, rows]) => Number(rows));

  /** PostgreSQL's rows that an index gave and a filter removed. */
  const removedRows = (plan: string): number =>
    Math.max(0, ...[...plan.matchAll(/Rows Removed by Filter\W+(\d+)/g)].map(([, rows]) => Number(rows)));
});
