/** How many turns of a pool the pages of lists take. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Provider } from '@nestjs/common';
import { getRepositoryToken } from '@nestjs/typeorm';
import { CrudController, joinTransaction } from 'declarest';
import {
  type BeforeQueryEvent,
  Column,
  DataSource,
  Entity,
  type EntitySubscriberInterface,
  EventSubscriber,
  PrimaryGeneratedColumn,
  type QueryRunner,
  Repository,
} from 'typeorm';
import { besides, SERVER_DATABASES } from '../harness/busy-databases.js';
import type { Answer } from '../harness/client.js';
import type { DatabaseName } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { type CrudService, type DataPath, startCrud } from './service.js';

@Entity()
class Task {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) title!: string;
}

/** Runs before each statement that counts. */
let beforeCount: ((event: BeforeQueryEvent) => Promise<void>) | undefined;
@EventSubscriber()
class Counts implements EntitySubscriberInterface {
  async beforeQuery(event: BeforeQueryEvent): Promise<void> {
    if (event.query.includes('COUNT(')) await beforeCount?.(event);
  }
}

class Tasks extends CrudController({
  entity: Task,
  endpoint: '/tasks',
  enablePagination: 'both',
  enableSearch: true,
  searchableFields: ['title'],
  filterableFields: ['title'],
}) {}
const ROWS = 7;
const PARALLEL = 12;

/** How often the pool gave a connection away, and took one back. */
interface Turns {
  acquired: number;
  released: number;
}

interface Pool {
  on(event: 'acquire' | 'release', listener: () => void): void;
}

function countTurns({ driver }: DataSource): Turns {
  const { master, pool = master } = driver as unknown as { readonly master: Pool; readonly pool?: Pool };
  const turns = { acquired: 0, released: 0 };
  pool.on('acquire', () => (turns.acquired += 1));
  pool.on('release', () => (turns.released += 1));
  return turns;
}

let service: CrudService | undefined;
afterEach(async () => {
  beforeCount = undefined;
  await service?.close();
  service = undefined;
});

const CASES = SERVER_DATABASES.flatMap((database) =>
  (['compiled', 'repository'] as DataPath[]).map((path) => [database, path] as const),
);

async function start(database: DatabaseName, path: DataPath, poolSize: number, providers: Provider[] = []) {
  const parts = { database, path, entities: [Task], controllers: [Tasks], providers };
  const started = await startCrud(PLATFORMS[path === 'compiled' ? 1 : 0]!, {
    ...parts,
    dataSource: { poolSize, subscribers: [Counts] } as never,
  });
  service = started;
  await started.dataSource.getRepository(Task).insert(Array.from({ length: ROWS }, () => ({ title: 'a' })));
  return started;
}

const totalOf = ({ json }: Answer): unknown => json.metadata.pagination.total;

if (CASES.length > 0)
  describe.each(CASES)('on %s, %s', (database, path) => {
    it.each([1, 2])(
      '[4.4] [7.6] a page takes one turn of a pool of %d, with its total or without',
      async (poolSize) => {
        const { get, dataSource } = await start(database, path, poolSize);
        const turns = countTurns(dataSource);
        const turnsOf = async (query: string): Promise<[total: unknown, acquired: number]> => {
          Object.assign(turns, { acquired: 0, released: 0 });
          const answers = await Promise.all(Array.from({ length: PARALLEL }, () => get(`/tasks${query}`)));
          expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
          expect(turns.released).toBe(turns.acquired);
          const totals = new Set(answers.map(totalOf));
          expect(totals.size).toBe(1);
          return [...totals, turns.acquired] as [unknown, number];
        };
        expect(await turnsOf('?size=2')).toEqual([ROWS, PARALLEL]);
        expect(await turnsOf('?size=2&page=2&filter[title]=a&count=capped')).toEqual([ROWS, PARALLEL]);
        expect(await turnsOf('?size=2&count=estimated')).toEqual([expect.any(Number), PARALLEL]);
        expect(await turnsOf('/search?title=a&size=2')).toEqual([ROWS, PARALLEL]);
        // These need no total.
        expect(await turnsOf('?size=2&page=4')).toEqual([ROWS, PARALLEL]);
        expect(await turnsOf('?size=2&count=none')).toEqual([undefined, PARALLEL]);
        const first = await get('/tasks?pagination=cursor&size=2');
        expect(await turnsOf(`?size=2&after=${first.json.metadata.pagination.next}`)).toEqual([undefined, PARALLEL]);
      },
    );

    it('[4.3] [4.4] a connection is given back where the total fails', async () => {
      const { get, dataSource } = await start(database, path, 1);
      const turns = countTurns(dataSource);
      beforeCount = () => Promise.reject(new Error('no total'));
      const failed = await Promise.all(Array.from({ length: 4 }, () => get('/tasks?size=2')));
      expect(failed.map(({ status }) => status)).toEqual([500, 500, 500, 500]);
      expect(turns).toEqual({ acquired: 4, released: 4 });
      // The connection ends between the page and its total.
      const other = await besides(dataSource);
      beforeCount = async ({ queryRunner }) => {
        beforeCount = undefined;
        const isPostgres = database === 'postgres';
        const [{ id }] = await queryRunner.query(`SELECT ${isPostgres ? 'pg_backend_pid()' : 'CONNECTION_ID()'} AS id`);
        await other.query(isPostgres ? `SELECT pg_terminate_backend(${id}, 5000)` : `KILL ${id}`);
        await wait(50);
      };
      expect((await get('/tasks?size=2')).status).toBe(503);
      await other.destroy();
      expect(totalOf(await get('/tasks?size=2'))).toBe(ROWS);
    });

    it('[2.8] a page and its total are read in the transaction of the code around', async () => {
      const { get, dataSource, app } = await start(database, path, 2);
      const turns = countTurns(dataSource);
      const joined = dataSource.transaction((manager) =>
        joinTransaction(manager, async () => {
          await manager.insert(Task, { title: 'own' });
          expect((await app.get(Tasks).findAll({ size: '2' })).metadata).toMatchObject({
            pagination: { total: ROWS + 1 },
          });
          throw new Error('undone');
        }),
      );
      await expect(joined).rejects.toThrow('undone');
      expect(turns).toEqual({ acquired: 1, released: 1 });
      // Tests replace the manager of the data source.
      const runner = dataSource.createQueryRunner();
      await runner.startTransaction();
      const { manager } = dataSource;
      Object.assign(dataSource, { manager: runner.manager });
      await dataSource.manager.insert(Task, { title: 'own' });
      expect(totalOf(await get('/tasks?size=2'))).toBe(ROWS + 1);
      Object.assign(dataSource, { manager });
      await runner.rollbackTransaction();
      await runner.release();
      expect(turns).toEqual({ acquired: 2, released: 2 });
      expect(totalOf(await get('/tasks?size=2'))).toBe(ROWS);
    });
  });

if (SERVER_DATABASES.length > 0)
  describe.each(SERVER_DATABASES)('a repository of the application on %s', (database) => {
    /** As Nest's documentation has it: TypeORM cannot make another one by `withRepository`. */
    class TaskRepository extends Repository<Task> {
      /** A transaction that only the repository knows. */
      runner: QueryRunner | undefined;
      constructor(dataSource: DataSource) {
        super(Task, dataSource.createEntityManager());
      }
      override createQueryBuilder(alias = 'task') {
        const query = this.runner?.manager.createQueryBuilder(Task, alias) ?? super.createQueryBuilder(alias);
        return query.where(`${alias}.title <> 'hidden'`);
      }
    }

    it('[4.1] [4.4] reads a page and its total on one connection, or on its own', async () => {
      const provider = {
        provide: getRepositoryToken(Task),
        inject: [DataSource],
        useFactory: (dataSource: DataSource) => new TaskRepository(dataSource),
      };
      const { get, dataSource, app } = await start(database, 'compiled', 2, [provider]);
      const turns = countTurns(dataSource);
      const repository = app.get<TaskRepository>(getRepositoryToken(Task));
      await dataSource.manager.insert(Task, { title: 'hidden' });
      expect(totalOf(await get('/tasks?size=2'))).toBe(ROWS);
      expect(turns).toEqual({ acquired: 2, released: 2 });
      const runner = (repository.runner = dataSource.createQueryRunner());
      await runner.startTransaction();
      await runner.manager.insert(Task, { title: 'own' });
      expect(totalOf(await get('/tasks?size=2'))).toBe(ROWS + 1);
      expect(turns).toEqual({ acquired: 3, released: 2 });
      await runner.rollbackTransaction();
      await runner.release();
      repository.runner = undefined;
      expect(totalOf(await get('/tasks?size=2'))).toBe(ROWS);
    });
  });
