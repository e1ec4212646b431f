/** A database that keeps a request waiting for longer than the application lets it. */
import { Column, DataSource, Entity, PrimaryGeneratedColumn, type QueryRunner } from 'typeorm';
import { DATABASES, type DatabaseName } from '../harness/databases.js';
import { failure, startCrud } from './service.js';

@Entity()
class Item {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 30 })
  name!: string;
}

interface Case {
  readonly database: DatabaseName;
  readonly what: string;
  /** Of the pool. */
  readonly extra: object;
  /** Said to the one connection, or to that of a pool of one. */
  readonly limit?: string;
  /** What somebody else does meanwhile, on a connection of the same pool, or of another one. */
  readonly hold: readonly string[];
  readonly ofSamePool?: boolean;
  /** Whether somebody waits for a connection already. */
  readonly isQueued?: boolean;
  readonly release: string;
}

const locked = { hold: ['BEGIN', 'LOCK TABLE item IN ACCESS EXCLUSIVE MODE'], release: 'COMMIT' };
const taken = { hold: ['SELECT 1'], ofSamePool: true, release: 'SELECT 1' };

const CASES: Case[] = (
  [
    {
      database: 'sqlite',
      what: 'busy_timeout',
      extra: {},
      limit: 'PRAGMA busy_timeout = 0',
      hold: ['BEGIN EXCLUSIVE'],
      release: 'COMMIT',
    },
    { database: 'postgres', what: 'statement_timeout', extra: { statement_timeout: 200 }, ...locked },
    { database: 'postgres', what: 'lock_timeout', extra: { lock_timeout: 200 }, ...locked },
    { database: 'postgres', what: 'a full pool', extra: { max: 1, connectionTimeoutMillis: 200 }, ...taken },
    {
      database: 'mariadb',
      what: 'max_statement_time',
      extra: { connectionLimit: 1 },
      limit: 'SET SESSION max_statement_time = 0.2',
      hold: ['LOCK TABLES item WRITE'],
      release: 'UNLOCK TABLES',
    },
    { database: 'mariadb', what: 'a full pool', extra: { connectionLimit: 1, waitForConnections: false }, ...taken },
    {
      database: 'mariadb',
      what: 'a pool with a full queue',
      extra: { connectionLimit: 1, queueLimit: 1 },
      ...taken,
      isQueued: true,
    },
  ] as const satisfies Case[]
).filter(({ database }) => DATABASES.includes(database));

const PATHS = ['compiled', 'repository'] as const;
const all = PATHS.flatMap((path) => CASES.map((each) => [each.database, path, each.what, each] as const));

describe('[4.6] a database that is busy is told of as 503, and is asked again', () => {
  it.each(all)('on %s, %s: %s', async (database, path, _, { extra, limit, hold, ofSamePool, isQueued, release }) => {
    const resources = [{ entity: Item, endpoint: '/api/items', enablePagination: true }];
    const service = await startCrud('express', {
      entities: [Item],
      resources,
      database,
      path,
      dataSource: { extra } as never,
    });
    const { dataSource } = service;
    if (limit) await dataSource.query(limit);
    await service.post('/api/items', { name: 'a' });
    const other = ofSamePool
      ? dataSource
      : await new DataSource({ ...dataSource.options, extra: {}, synchronize: false } as never).initialize();
    const runner: QueryRunner = other.createQueryRunner();
    for (const sql of hold) await runner.query(sql);
    const queued = isQueued ? dataSource.query('SELECT 1') : undefined;
    const answers = await Promise.all([
      service.get('/api/items/1'),
      service.put('/api/items/1', { name: 'b' }),
      service.get('/api/items/1'),
    ]);
    const busy = [503, failure('The database is busy, try again')];
    expect(answers.map(({ status, json }) => [status, json])).toEqual([busy, busy, busy]);
    await runner.query(release);
    await runner.release();
    await queued;
    expect((await service.get('/api/items/1')).json.data).toEqual({ id: 1, name: 'a' });
    if (!ofSamePool) await other.destroy();
    await service.close();
  });
});

(DATABASES.includes('postgres') ? it : it.skip).each(PATHS)(
  '[4.6] what pg alone gives up goes on in PostgreSQL: nobody is told to try again, on the path %s',
  async (path) => {
    const service = await startCrud('express', {
      entities: [Item],
      resources: [{ entity: Item, endpoint: '/api/items', enablePagination: true }],
      database: 'postgres',
      path,
      dataSource: { extra: { query_timeout: 200 } } as never,
    });
    await service.post('/api/items', { name: 'a' });
    const other = new DataSource({ ...service.dataSource.options, extra: {}, synchronize: false } as never);
    const runner = (await other.initialize()).createQueryRunner();
    for (const sql of locked.hold) await runner.query(sql);
    const { status, json } = await service.put('/api/items/1', { name: 'b' });
    expect([status, json]).toEqual([500, failure('Internal server error')]);
    await runner.query(locked.release);
    await runner.release();
    await other.destroy();
    await service.close();
  },
);
