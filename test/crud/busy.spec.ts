import { CrudController, type HookContext } from 'declarest';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import {
  besides,
  BUSY_CASES,
  type DatabaseProxy,
  endOtherConnections,
  makeBusy,
  SERVER_DATABASES,
  startProxy,
} from '../harness/busy-databases.js';
import type { Answer } from '../harness/client.js';
import { type DatabaseName, DATABASES } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { StatementLog } from '../harness/statement-log.js';
import { type CrudService, type DataPath, failure, startCrud } from './service.js';

@Entity()
class Item {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 30 })
  name!: string;
}

const DATA_PATHS: DataPath[] = ['compiled', 'repository'];

async function startItems(
  database: DatabaseName,
  path: DataPath,
  extra: object,
  logger?: StatementLog,
): Promise<CrudService> {
  const service = await startCrud(path === 'compiled' ? PLATFORMS[1]! : PLATFORMS[0]!, {
    entities: [Item],
    resources: [{ entity: Item, endpoint: '/api/items', enablePagination: true }],
    database,
    path,
    dataSource: { extra, ...(logger && { logger }) } as never,
  });
  await service.post('/api/items', { name: 'a' });
  return service;
}

const shown = ({ status, headers, json }: Answer): unknown[] => [status, headers['retry-after'], json];
const UNAVAILABLE = [503, '5', failure('The database is temporarily unavailable, try again')];
const all = <T>(names: readonly T[]): (readonly [T, DataPath])[] =>
  names.flatMap((name) => DATA_PATHS.map((path) => [name, path] as const));

describe('a database that is busy', () => {
  it.each(all(BUSY_CASES).map(([busy, path]) => [busy.database, path, busy.what, busy] as const))(
    '[4.3] is 503 with Retry-After on %s, %s: %s',
    async (database, path, _, busyCase) => {
      const service = await startItems(database, path, busyCase.extra);
      const release = await makeBusy(service.dataSource, Item, busyCase);
      const answers = await Promise.all([
        service.get('/api/items/1'),
        service.put('/api/items/1', { name: 'b' }),
        service.get('/api/items'),
      ]);
      for (const answer of answers) expect(shown(answer)).toEqual(UNAVAILABLE);
      await release();
      expect((await service.get('/api/items/1')).json.data).toEqual({ id: 1, name: 'a' });
      await service.close();
    },
  );

  it.each(all(BUSY_CASES).map(([busy, path]) => [busy.database, path, busy.what, busy] as const))(
    '[4.3] is not asked a second time by a change, on %s, %s: %s',
    async (database, path, _, busyCase) => {
      const logger = new StatementLog();
      const service = await startItems(database, path, busyCase.extra, logger);
      const release = await makeBusy(service.dataSource, Item, busyCase);
      logger.take();
      expect(shown(await service.put('/api/items/1', { name: 'b' }))).toEqual(UNAVAILABLE);
      expect(logger.take().filter(([sql]) => sql.startsWith('SELECT 1 '))).toEqual([]);
      await release();
      await service.close();
    },
  );

  (DATABASES.includes('postgres') ? it : it.skip)(
    "[4.3] is 500 on pg's own time limit, because PostgreSQL goes on with the statement",
    async () => {
      const service = await startItems('postgres', 'compiled', { query_timeout: 200 });
      const other = await besides(service.dataSource);
      const runner = other.createQueryRunner();
      for (const sql of ['BEGIN', 'LOCK TABLE item IN ACCESS EXCLUSIVE MODE']) await runner.query(sql);
      expect((await service.put('/api/items/1', { name: 'b' })).status).toBe(500);
      await runner.query('COMMIT');
      await runner.release();
      await other.destroy();
      await service.close();
    },
  );
});

if (SERVER_DATABASES.length > 0)
  describe.each(all(SERVER_DATABASES))('a server that is down: %s, %s', (database, path) => {
    let proxy: DatabaseProxy | undefined;
    afterEach(() => proxy?.remove());

    it('[4.3] is 503 with Retry-After while it refuses connections, and answers again afterwards', async () => {
      proxy = await startProxy(database);
      const service = await startItems(database, path, {});
      const during: Promise<Answer>[] = [];
      for (let n = 0; n < 20; n += 1) during.push(service.get('/api/items'));
      await proxy.stop();
      // Some of these were sent before the connections ended.
      for (const answer of await Promise.all(during)) expect([200, 503]).toContain(answer.status);
      for (const answer of [
        await service.get('/api/items/1'),
        await service.get('/api/items'),
        await service.post('/api/items', { name: 'b' }),
        await service.put('/api/items/1', { name: 'b' }),
        await service.del('/api/items/1'),
      ])
        expect(shown(answer)).toEqual(UNAVAILABLE);
      await proxy.start();
      expect((await service.get('/api/items/1')).json.data).toEqual({ id: 1, name: 'a' });
      await service.close();
    });

    it('[4.3] is 503 with Retry-After for a statement whose connection it ends', async () => {
      const service = await startItems(database, path, {});
      const other = await besides(service.dataSource);
      const lock = other.createQueryRunner();
      await lock.query(database === 'postgres' ? 'BEGIN' : 'START TRANSACTION');
      await lock.query(`UPDATE item SET name = 'locked' WHERE id = 1`);
      const waiting = [service.put('/api/items/1', { name: 'b' }), service.del('/api/items/1')];
      await new Promise((resolve) => setTimeout(resolve, 200));
      await endOtherConnections(lock);
      for (const answer of await Promise.all(waiting)) expect(shown(answer)).toEqual(UNAVAILABLE);
      await lock.query('ROLLBACK');
      expect((await service.get('/api/items/1')).json.data).toEqual({ id: 1, name: 'a' });
      await lock.release();
      await other.destroy();
      await service.close();
    });
  });

if (SERVER_DATABASES.length > 0)
  describe.each(SERVER_DATABASES)('a connection that ends inside of a transaction, on %s', (database) => {
    class Items extends CrudController({ entity: Item, endpoint: '/api/items', enableBatch: true }) {
      override beforeCreate = (_: unknown, context: HookContext) => end(context);
      override beforeUpdate = (_: unknown, __: unknown, context: HookContext) => end(context);
      override beforeDelete = (_: unknown, context: HookContext) => end(context);
    }
    let service: CrudService;
    beforeAll(async () => {
      service = await startCrud('fastify', { database, entities: [Item], resources: [Items] });
    });
    afterAll(() => service.close());

    /** As the server's limit of idle transactions, a failover and a pooler do. */
    async function end({ manager }: HookContext): Promise<void> {
      const runner = manager.queryRunner!;
      const isPostgres = database === 'postgres';
      const [{ id }] = await runner.query(`SELECT ${isPostgres ? 'pg_backend_pid()' : 'CONNECTION_ID()'} AS id`);
      await service.dataSource.query(isPostgres ? `SELECT pg_terminate_backend(${id})` : `KILL ${id}`);
      // TypeORM releases the runner when the driver says that the connection has ended. That of MySQL says so later.
      if (isPostgres) while (!runner.isReleased) await new Promise((resolve) => setImmediate(resolve));
    }

    it('[4.3] is 503 with Retry-After for all kinds of write, and nothing is written', async () => {
      await service.dataSource.getRepository(Item).insert({ name: 'a' });
      for (const answer of [
        await service.post('/api/items', { name: 'b' }),
        await service.post('/api/items/batch', { items: [{ name: 'b' }] }),
        await service.put('/api/items/1', { name: 'b' }),
        await service.send('PATCH', '/api/items/1', { json: { name: 'b' } }),
        await service.del('/api/items/1'),
      ])
        expect(shown(answer)).toEqual(UNAVAILABLE);
      expect((await service.get('/api/items')).json.data).toEqual([{ id: 1, name: 'a' }]);
    });
  });
