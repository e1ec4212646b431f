/** How the requests of an application share the connections of its data source. */
import { ConflictException, Injectable } from '@nestjs/common';
import {
  AuthModule,
  AuthSession,
  AuthUser,
  CrudController,
  type CrudRecord,
  type CrudResource,
  UserAccounts,
  useScope,
} from 'declarest';
import { Column, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { besides, untilBlocked } from '../harness/busy-databases.js';
import type { Answer } from '../harness/client.js';
import { DATABASES } from '../harness/databases.js';
import { TEST_SECRET } from '../harness/tokens.js';
import { crudError, type CrudService, startCrud } from './service.js';

@Entity('account')
class Account extends AuthUser {}

@Entity()
class Task {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) title!: string;
  @Column({ type: 'simple-json', nullable: true }) settings!: unknown;
}

@Entity()
class Label {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) word!: string;
}

const running: CrudService[] = [];
afterEach(async () => {
  for (const service of running.splice(0)) await service.close();
});

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe.each(DATABASES)('on %s', (database) => {
  it('[2.1] a registration is kept when a write that runs at the same time is refused', async () => {
    class Tasks extends CrudController({ entity: Task, endpoint: '/tasks' }) {
      override async beforeCreate(): Promise<void> {
        await wait(150);
        throw new ConflictException('refused');
      }
    }
    const auth = AuthModule.forRoot({ userClass: Account, jwtSecret: TEST_SECRET, bcryptRounds: 4 });
    const service = await startCrud('express', {
      database,
      entities: [Account, Task],
      resources: [Tasks],
      imports: [auth],
    });
    running.push(service);
    const refused = service.post('/tasks', { title: 'a' });
    await wait(30);
    const names = ['a', 'b', 'c', 'd', 'e'];
    const registered = await Promise.all(
      names.map((name) =>
        service.post('/api/auth/register', { email: `${name}@x.example`, password: 'long enough 1' }),
      ),
    );
    expect(registered.map(({ status }) => status)).toEqual(names.map(() => 201));
    expect((await refused).status).toBe(409);
    const stored = await service.dataSource.getRepository(Account).find({ order: { email: 'ASC' } });
    expect(stored.map(({ email }) => email)).toEqual(names.map((name) => `${name}@x.example`));
  });

  it('[8.9] a hook may create a user while its own transaction is open', async () => {
    class Tasks extends CrudController({ entity: Task, endpoint: '/tasks' }) {
      override async beforeCreate(): Promise<void> {
        await service.app.get(UserAccounts).create({ email: 'a@x.example', password: 'long enough 1' });
      }
    }
    const auth = AuthModule.forRoot({ userClass: Account, jwtSecret: TEST_SECRET, bcryptRounds: 4 });
    const parts = { database, entities: [Account, Task], resources: [Tasks], imports: [auth] };
    const service = await startCrud('express', parts);
    running.push(service);
    expect((await service.post('/tasks', { title: 'a' })).status).toBe(201);
    expect(await service.dataSource.getRepository(Account).count()).toBe(1);
  });

  it('[8.9] work that a hook starts and does not await belongs to no transaction when it has ended', async () => {
    let late: Promise<unknown> | undefined;
    class Labels extends CrudController({ entity: Label, endpoint: '/labels' }) {}
    class Tasks extends CrudController({ entity: Task, endpoint: '/tasks' }) {
      override async beforeCreate({ title }: { title?: string | null }): Promise<void> {
        if (title === 'kept') late = wait(60).then(() => service.app.get(Labels).create({ word: 'late' }));
        else await wait(150);
        if (title === 'refused') throw new ConflictException();
      }
    }
    const service = await startCrud('express', { database, entities: [Label, Task], resources: [Labels, Tasks] });
    running.push(service);
    expect((await service.post('/tasks', { title: 'kept' })).status).toBe(201);
    // Its transaction is open while the late work writes.
    const [{ status }] = await Promise.all([service.post('/tasks', { title: 'refused' }), late]);
    expect(status).toBe(409);
    const labels = (await service.get('/labels')).json.data as { word: string }[];
    expect(labels.map(({ word }) => word)).toEqual(['late']);
  });
});

const POOLS = DATABASES.filter((database) => database !== 'sqlite');
const PARALLEL = 60;

if (POOLS.length > 0)
  describe.each(POOLS)('the pool of %s', (database) => {
    /** Reads outside of the transaction of its caller. */
    @Injectable()
    class LabelScope {
      constructor(private readonly dataSource: DataSource) {}
      async scope() {
        await this.dataSource.getRepository(Label).count();
        return true;
      }
    }
    class Labels extends CrudController({ entity: Label, endpoint: '/labels', scope: useScope(LabelScope) }) {}

    const insertTasks = ({ dataSource }: CrudService): Promise<unknown> =>
      dataSource.getRepository(Task).insert(Array.from({ length: 6 }, () => ({ title: 'a', settings: {} })));
    const start = async (resources: CrudResource[]): Promise<CrudService> => {
      const parts = { database, entities: [Label, Task], resources, providers: [LabelScope] };
      const service = await startCrud('express', { ...parts, dataSource: { poolSize: 4 } as never });
      running.push(service);
      await insertTasks(service);
      return service;
    };
    it('of one connection is refused where a hook or a scope may need another one', async () => {
      class Tasks extends CrudController({ entity: Task, endpoint: '/tasks' }) {
        override beforeUpdate(): void {}
      }
      const parts = {
        database,
        entities: [Label, Task],
        dataSource: { poolSize: 1 } as never,
        providers: [LabelScope],
      };
      const refused = async (resource: CrudResource) =>
        (await crudError('express', { ...parts, resources: [resource] })).message;
      expect(await refused(Tasks)).toBe(
        '`poolSize` of the data source must be at least 2, because Tasks has the hook beforeUpdate, got 1. Raise `poolSize`.',
      );
      expect(await refused(Labels)).toContain('because Labels has the option `scope`, got 1');
      const service = await startCrud('express', {
        ...parts,
        resources: [{ entity: Task, endpoint: '/tasks', enableBatch: true }],
      });
      running.push(service);
      const answers = await Promise.all(
        [1, 2, 3].map((id) => service.post('/tasks/batch', { items: [{ title: `t${id}` }] })),
      );
      expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    });

    const allAnswered = async (service: CrudService, send: (index: number) => Promise<Answer>): Promise<void> => {
      let answered = 0;
      const answers = Array.from({ length: PARALLEL }, (_, index) => send(index).finally(() => (answered += 1)));
      await wait(20);
      expect((await service.get('/tasks/1')).status).toBe(200);
      // A read does not wait for all of them.
      expect(answered).toBeLessThan(PARALLEL);
      const statuses = (await Promise.all(answers)).map(({ status }) => status);
      expect(statuses.every((status) => status < 300)).toBe(true);
    };
    const querying = (service: () => CrudService) => ({
      '~standard': {
        version: 1 as const,
        vendor: 'test',
        async validate(value: unknown) {
          await wait(3 + Math.random() * 22);
          await service().dataSource.query('SELECT 1');
          return { value: value as object };
        },
      },
    });

    it('[8.8] serves requests whose schema reads the database', async () => {
      const schema = { create: querying(() => service), update: querying(() => service) };
      const service = await start([{ entity: Task, endpoint: '/tasks', validationSchema: schema, enableBatch: true }]);
      await allAnswered(service, (index) => {
        const id = 1 + (index % 5);
        if (index % 3 === 0) return service.send('PATCH', '/tasks/batch', { json: { items: [{ id, title: 'b' }] } });
        const json = index % 3 === 1 ? { settings: { [`k${index}`]: 1 } } : { title: 'c' };
        return service.send('PATCH', `/tasks/${id}`, { json });
      });
    });

    it('[8.9] serves requests whose hook calls an operation with a scope that reads the database', async () => {
      class Tasks extends CrudController({ entity: Task, endpoint: '/tasks' }) {
        override async beforeUpdate(): Promise<void> {
          await service.app.get(Labels).findAll({});
        }
      }
      const service = await start([Labels, Tasks]);
      await allAnswered(service, (index) => service.put(`/tasks/${1 + (index % 5)}`, { title: `t${index}` }));
    });

    it.each([
      ['single statements', false],
      ['transactions', true],
    ])('[4.3] writes that wait for a lock take half of it: %s', async (_, isBatch) => {
      const service = await start([{ entity: Task, endpoint: '/tasks', enableBatch: true }]);
      const other = await besides(service.dataSource);
      const [client, watcher] = [other.createQueryRunner(), other.createQueryRunner()];
      await client.query(database === 'postgres' ? 'BEGIN' : 'START TRANSACTION');
      await client.query('SELECT * FROM task FOR UPDATE');
      const patch = (_: unknown, index: number) => {
        const id = 1 + (index % 5);
        return isBatch
          ? service.send('PATCH', '/tasks/batch', { json: { items: [{ id, title: 'b' }] } })
          : service.send('PATCH', `/tasks/${id}`, { json: { title: 'b' } });
      };
      const patches = Promise.all(Array.from({ length: 15 }, patch));
      await untilBlocked(watcher, 2);
      // The lock is held until all of these are answered.
      const reads = await Promise.all(Array.from({ length: 18 }, () => service.get('/tasks/2')));
      expect(reads.map(({ status }) => status)).toEqual(reads.map(() => 200));
      await client.query('COMMIT');
      expect((await patches).map(({ status }) => status)).toEqual(Array.from({ length: 15 }, () => 200));
      for (const runner of [client, watcher]) await runner.release();
      await other.destroy();
    });

    it('[4.3] forty writes that wait for one locked record leave other writes a connection', async () => {
      class Hooked extends CrudController({ entity: Task, endpoint: '/hooked' }) {
        override beforeUpdate(): void {}
        override beforeDelete(): void {}
      }
      const service = await start([{ entity: Task, endpoint: '/tasks' }, Hooked]);
      const other = await besides(service.dataSource);
      const [client, watcher] = [other.createQueryRunner(), other.createQueryRunner()];
      await client.query(database === 'postgres' ? 'BEGIN' : 'START TRANSACTION');
      await client.query('SELECT * FROM task WHERE id = 1 FOR UPDATE');
      const waiting = [
        () => service.send('PATCH', '/tasks/1', { json: { title: 'b' } }),
        () => service.send('PATCH', '/tasks/1', { json: { settings: { b: 1 } } }),
        () => service.put('/hooked/1', { title: 'c', settings: {} }),
        () => service.send('PATCH', '/hooked/1', { json: { title: 'd' } }),
      ];
      const patches = Promise.all(Array.from({ length: 40 }, (_, index) => waiting[index % 4]!()));
      await untilBlocked(watcher, 1);
      // The lock is held until all of these are answered.
      const writes = await Promise.all([
        ...[2, 3, 4].map((id) => service.send('PATCH', `/tasks/${id}`, { json: { title: 'e' } })),
        service.put('/hooked/2', { title: 'f', settings: {} }),
        service.post('/tasks', { title: 'g' }),
        service.del('/hooked/5'),
        service.del('/tasks/6'),
      ]);
      expect(writes.map(({ status }) => status)).toEqual([200, 200, 200, 200, 201, 200, 200]);
      await client.query('COMMIT');
      expect((await patches).map(({ status }) => status)).toEqual(Array.from({ length: 40 }, () => 200));
      for (const runner of [client, watcher]) await runner.release();
      await other.destroy();
    });

    it('[8.9] a hook may change its record again, after the commit too', async () => {
      class Tasks extends CrudController({ entity: Task, endpoint: '/tasks' }) {
        override async whenUpdated({ id, title }: CrudRecord<Task>): Promise<void> {
          if (title === 'a') await this.patch(String(id), { title: 'b' });
        }
        override async afterUpdate({ id, title }: CrudRecord<Task>): Promise<void> {
          if (title !== 'd') await this.patch(String(id), { title: 'd' });
        }
      }
      const service = await start([Tasks]);
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => service.send('PATCH', '/tasks/1', { json: { title: 'a' } })),
      );
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      expect((await service.get('/tasks/1')).json.data.title).toBe('d');
    });

    it('[4.3] a write waits for its turn as long as for a connection', async () => {
      const extra = {
        postgres: { max: 4, connectionTimeoutMillis: 200 },
        mariadb: { connectionLimit: 4, connectTimeout: 200 },
        sqlite: {},
      }[database];
      const parts = { database, entities: [Task], resources: [{ entity: Task, endpoint: '/tasks' }] };
      const service = await startCrud('fastify', { ...parts, dataSource: { extra } as never });
      running.push(service);
      await insertTasks(service);
      const other = await besides(service.dataSource);
      const client = other.createQueryRunner();
      await client.query('BEGIN');
      await client.query('SELECT * FROM task FOR UPDATE');
      const statuses: number[] = [];
      const patches = Array.from({ length: 6 }, async (_, index) => {
        const { status } = await service.send('PATCH', `/tasks/${1 + index}`, { json: { title: 'b' } });
        statuses.push(status);
        // Two of them have a connection.
        if (statuses.length === 4) await client.query('COMMIT');
      });
      await Promise.all(patches);
      expect(statuses).toEqual([503, 503, 503, 503, 200, 200]);
      await client.release();
      await other.destroy();
    });

    it('[4.3] a read waits for its turn as long as for a connection', async () => {
      const extra = {
        postgres: { max: 1, connectionTimeoutMillis: 200 },
        mariadb: { connectionLimit: 1, connectTimeout: 200 },
        sqlite: {},
      }[database];
      const parts = { database, entities: [Task], resources: [{ entity: Task, endpoint: '/tasks' }] };
      const service = await startCrud('fastify', { ...parts, dataSource: { extra } as never });
      running.push(service);
      const other = await besides(service.dataSource);
      const client = other.createQueryRunner();
      await client.query(database === 'postgres' ? 'BEGIN' : 'SELECT 1');
      await client.query(database === 'postgres' ? 'LOCK TABLE task' : 'LOCK TABLES task WRITE');
      const first = service.get('/tasks/1');
      await wait(100);
      expect((await service.get('/tasks/1')).status).toBe(503);
      await client.query(database === 'postgres' ? 'COMMIT' : 'UNLOCK TABLES');
      expect((await first).status).toBe(404);
      await client.release();
      await other.destroy();
    });

    it('[4.3] writes of accounts that wait for a lock take half of it', async () => {
      const options = { jwtSecret: TEST_SECRET, bcryptRounds: 4, throttle: false, sessions: true } as const;
      const auth = AuthModule.forRoot({ userClass: Account, ...options });
      const service = await startCrud('fastify', {
        database,
        entities: [Account, AuthSession, Task],
        resources: [{ entity: Task, endpoint: '/tasks', enableBatch: true }],
        imports: [auth],
        dataSource: { poolSize: 4 } as never,
      });
      running.push(service);
      const registered = await service.post('/api/auth/register', { email: 'a@x.example', password: 'long enough 1' });
      const { token } = registered.json.data as { token: string };
      const other = await besides(service.dataSource);
      const [client, watcher] = [other.createQueryRunner(), other.createQueryRunner()];
      await client.query(database === 'postgres' ? 'BEGIN' : 'START TRANSACTION');
      await client.query('SELECT * FROM account FOR UPDATE');
      const patches = Promise.all(
        Array.from({ length: 15 }, (_, index) =>
          service.send('PATCH', '/api/auth/me', { token, json: { firstName: `A${index}` } }),
        ),
      );
      await untilBlocked(watcher, 2);
      const reads = await Promise.all(Array.from({ length: 18 }, () => service.get('/tasks')));
      expect(reads.map(({ status }) => status)).toEqual(reads.map(() => 200));
      await client.query('COMMIT');
      expect((await patches).map(({ status }) => status)).toEqual(Array.from({ length: 15 }, () => 200));
      for (const runner of [client, watcher]) await runner.release();
      await other.destroy();
    });

    it('[8.9] serves requests whose hook reads outside of its transaction', async () => {
      class Tasks extends CrudController({ entity: Task, endpoint: '/tasks' }) {
        override async beforeCreate(): Promise<void> {
          await wait(3 + Math.random() * 22);
          await service.dataSource.getRepository(Label).count();
        }
      }
      const service = await start([Tasks]);
      await allAnswered(service, (index) => service.post('/tasks', { title: `t${index}` }));
    });
  });
