/** What happens where the driver waits for ever, and where it does not. */
import { EventEmitter } from 'node:events';
import net from 'node:net';
import { AuthModule, CrudController } from 'declarest';
import mysql2 from 'mysql2';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { AUTH, PASSWORD } from '../auth/auth-app.js';
import { crudError, type CrudParts, startCrud } from '../crud/service.js';
import { besides, SERVER_DATABASES, untilBlocked } from '../harness/busy-databases.js';
import { DATABASES, type DatabaseName, IS_MYSQL } from '../harness/databases.js';
import { linesOf } from '../harness/platforms.js';
import { User } from '../harness/shop.js';

@Entity()
class Item {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 30 })
  name!: string;
}

/** Its writes are transactions. */
class HookedItems extends CrudController({ entity: Item, endpoint: '/api/hooked', maxListSize: 9 }) {
  override beforeUpdate(): void {}
}

const partsOf = (database: DatabaseName, dataSource: object, strict = false): CrudParts => ({
  database,
  entities: [Item, User],
  resources: [{ entity: Item, endpoint: '/api/items', maxListSize: 9 }],
  imports: [AuthModule.forRoot({ ...AUTH, defaultAccess: 'public', strict })],
  dataSource,
});

/** The data source of a test has limits unless it says otherwise. */
const UNLIMITED = { extra: {}, driver: undefined };

async function warningsWith(database: DatabaseName, dataSource: object): Promise<string[]> {
  const service = await startCrud('fastify', partsOf(database, dataSource));
  await service.close();
  return linesOf(service.logs, 'warn').filter((line) => line.includes('limit'));
}

/** The lines of the warning, as an application would have them. */
async function pastedLines(database: DatabaseName): Promise<object> {
  const [warning = ''] = await warningsWith(database, UNLIMITED);
  const [, lines = ''] = /Add to the options of TypeORM: (.*)$/.exec(warning) ?? [];
  return new Function('mysql2', 'net', `return { ${lines} }`)(mysql2, net) as object;
}

it('SQLite needs no limits', async () => {
  for (const database of DATABASES.filter((each) => each === 'sqlite'))
    expect(await warningsWith(database, {})).toEqual([]);
});

if (SERVER_DATABASES.length > 0)
  describe.each(SERVER_DATABASES)('the limits of %s', (database) => {
    const names = {
      postgres: 'connectionTimeoutMillis, statement_timeout, lock_timeout, stream',
      mariadb: `queueLimit, innodb_lock_wait_timeout, ${IS_MYSQL ? 'lock_wait_timeout, max_execution_time' : 'max_statement_time'}, stream`,
      sqlite: '',
    }[database];

    it('[4.3] that are missing are one warning, whose lines set them', async () => {
      expect(await warningsWith(database, UNLIMITED)).toEqual([
        expect.stringContaining(`The data source waits without a limit, because it has no ${names}. One locked row`),
      ]);
      expect(await warningsWith(database, await pastedLines(database))).toEqual([]);
    });

    it('[4.3] that are missing stop the start in production with strict', async () => {
      const before = process.env['NODE_ENV'];
      process.env['NODE_ENV'] = 'production';
      try {
        const { message } = await crudError('fastify', partsOf(database, UNLIMITED, true));
        expect(message).toContain(`The data source must be limited with \`strict\` in production, got no ${names}. `);
        const limited = await crudError('fastify', partsOf(database, await pastedLines(database), true));
        // The next check: this application has no rules.
        expect(limited.message).toContain('The option `strict` refuses this.');
      } finally {
        process.env['NODE_ENV'] = before;
      }
    });

    it('[4.3] keep other requests going while writes wait for a row that is locked', async () => {
      const service = await startCrud('fastify', partsOf(database, await pastedLines(database)));
      const user = { email: 'ann@shop.example', password: PASSWORD };
      await service.post('/api/auth/register', user);
      await service.post('/api/items', { name: 'locked' });
      await service.post('/api/items', { name: 'free' });
      const other = await besides(service.dataSource);
      const lock = other.createQueryRunner();
      await lock.startTransaction();
      await lock.query('SELECT * FROM item WHERE id = 1 FOR UPDATE');
      const begun = Date.now();
      const patches = Array.from({ length: 15 }, async () => {
        const { status } = await service.send('PATCH', '/api/items/1', { json: { name: 'waits' } });
        return [status, Date.now() - begun < 6000];
      });
      const others = Array.from({ length: 6 }, () => [
        service.get('/api/items'),
        service.send('PATCH', '/api/items/2', { json: { name: 'changed' } }),
        service.post('/api/auth/login', user),
      ]);
      expect(await Promise.all(patches)).toEqual(Array.from({ length: 15 }, () => [503, true]));
      const statuses = (await Promise.all(others.flat())).map(({ status }) => status);
      expect(statuses).toEqual(Array.from({ length: 18 }, () => 200));
      await lock.rollbackTransaction();
      await lock.release();
      await other.destroy();
      await service.close();
    });

    it('[4.3] refuse the writes that wait for a locked record together, and leave other writes alive', async () => {
      const parts = partsOf(database, await pastedLines(database));
      const service = await startCrud('express', { ...parts, resources: [...(parts.resources as []), HookedItems] });
      const { dataSource, send, put, post } = service;
      await dataSource.getRepository(Item).insert(Array.from({ length: 10 }, () => ({ name: 'free' })));
      const other = await besides(dataSource);
      const [lock, watcher] = [other.createQueryRunner(), other.createQueryRunner()];
      const rounds = [
        { endpoint: '/api/items', free: [7, 8], isReleased: false },
        { endpoint: '/api/hooked', free: [9, 10], isReleased: false },
        { endpoint: '/api/hooked', free: [], isReleased: true },
      ];
      for (const { endpoint, free, isReleased } of rounds) {
        await lock.startTransaction();
        await lock.query('SELECT * FROM item WHERE id = 1 FOR UPDATE');
        const begun = Date.now();
        const patches = Array.from({ length: 40 }, async (_, index) => {
          const { status, headers } = await send('PATCH', `${endpoint}/1`, { json: { name: `waits ${index}` } });
          return [status, headers['retry-after']];
        });
        await untilBlocked(watcher, 1);
        const writes = await Promise.all([
          ...[2, 3, 4].map((id) => send('PATCH', `/api/items/${id}`, { json: { name: 'changed' } })),
          ...[5, 6].map((id) => put(`/api/items/${id}`, { name: 'replaced' })),
          ...['a', 'b'].map((name) => post('/api/items', { name })),
          ...free.map((id) => service.del(`/api/items/${id}`)),
        ]);
        expect(writes.map(({ status }) => status).filter((status) => status > 201)).toEqual([]);
        if (isReleased) await lock.commitTransaction();
        const expected = isReleased ? [200, undefined] : [503, '5'];
        expect(await Promise.all(patches)).toEqual(Array.from({ length: 40 }, () => expected));
        // A writer waits for its turn for 5 s.
        expect(Date.now() - begun).toBeLessThan(4_000);
        if (!isReleased) await lock.rollbackTransaction();
      }
      for (const runner of [lock, watcher]) await runner.release();
      await other.destroy();
      await service.close();
    });
  });

if (DATABASES.includes('postgres'))
  it('[4.3] limits that the server reports count, as where a connection pooler takes no others', async () => {
    type Lines = { readonly extra: Readonly<Record<string, unknown>> };
    const { extra } = (await pastedLines('postgres')) as Lines;
    const { statement_timeout, lock_timeout, ...client } = extra;
    const options = `-c statement_timeout=${String(statement_timeout)} -c lock_timeout=${String(lock_timeout)}`;
    expect(await warningsWith('postgres', { extra: client })).toHaveLength(1);
    expect(await warningsWith('postgres', { extra: { ...client, options } })).toEqual([]);
  });

if (DATABASES.includes('postgres'))
  it('[4.3] the lines for PostgreSQL listen to errors of connections, which would end the process', async () => {
    const { extra } = (await pastedLines('postgres')) as { extra: { onConnect: (client: EventEmitter) => void } };
    const client = new EventEmitter();
    extra.onConnect(client);
    expect(() => client.emit('error', new Error('the connection has ended'))).not.toThrow();
  });
