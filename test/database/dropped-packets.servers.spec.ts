/** A network that drops packets, with the limits that the startup warning recommends, ten times as short. */
import net from 'node:net';
import { AuthModule, AuthSession, CrudController } from 'declarest';
import mysql2 from 'mysql2';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { AUTH, PASSWORD } from '../auth/auth-app.js';
import { type CrudService, startCrud } from '../crud/service.js';
import { type DatabaseProxy, SERVER_DATABASES, startProxy } from '../harness/busy-databases.js';
import type { Answer } from '../harness/client.js';
import type { DatabaseName } from '../harness/databases.js';
import { linesOf } from '../harness/platforms.js';
import { User } from '../harness/shop.js';

@Entity()
class Item {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 30 })
  name!: string;
}

/** Its hook runs in a transaction that has locked the record. */
let hook: (() => Promise<void>) | undefined;
class Items extends CrudController({ entity: Item, endpoint: '/api/items', maxListSize: 9, enableBatch: true }) {
  override async beforeUpdate(): Promise<void> {
    await hook?.();
  }
}

const start = (database: DatabaseName, dataSource: object): Promise<CrudService> =>
  startCrud('fastify', {
    database,
    entities: [Item, User, AuthSession],
    resources: [Items],
    imports: [AuthModule.forRoot({ ...AUTH, defaultAccess: 'public', throttle: false, sessions: true })],
    dataSource: dataSource as never,
  });

async function recommendedLimits(database: DatabaseName): Promise<object> {
  const service = await start(database, { extra: {}, driver: undefined });
  await service.close();
  const [warning = ''] = linesOf(service.logs, 'warn').filter((line) => line.includes('limit'));
  const [, lines = ''] = /Add to the options of TypeORM: (.*)$/.exec(warning) ?? [];
  const options = `return { ${lines.replaceAll('_000', '_00')} }`;
  return new Function('mysql2', 'net', options)(mysql2, net) as object;
}

const times = <R>(count: number, work: (index: number) => R): R[] => Array.from({ length: count }, (_, n) => work(n));

let proxy: DatabaseProxy | undefined;
afterEach(async () => {
  await proxy?.remove();
});

if (SERVER_DATABASES.length > 0)
  it.each(SERVER_DATABASES)('[4.3] every request is answered while packets to %s are dropped', async (database) => {
    const limits = await recommendedLimits(database);
    const network = (proxy = await startProxy(database));
    const service = await start(database, limits);
    const user = { email: 'ann@shop.example', password: PASSWORD };
    const { token } = (await service.post('/api/auth/register', user)).json.data as { token: string };
    await service.post('/api/items', { name: 'a' });
    const sendAll = (name: string): Promise<Answer>[] => [
      ...times(30, () => service.get('/api/items')),
      ...times(15, () => service.send('PATCH', '/api/items/1', { json: { name } })),
      ...times(5, () => service.send('PATCH', '/api/items/batch', { json: { items: [{ id: 1, name }] } })),
      ...times(5, () => service.post('/api/auth/login', user)),
      ...times(5, () => service.send('PATCH', '/api/auth/me', { token, json: { firstName: name } })),
    ];
    // The first transaction has its lock, and waits until the packets are dropped.
    let locks = (): void => undefined;
    const locked = new Promise<void>((resolve) => (locks = resolve));
    hook = async () => {
      hook = undefined;
      locks();
      while (!network.dropsPackets) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    const holder = service.send('PATCH', '/api/items/1', { json: { name: 'holder' } });
    await locked;
    await Promise.all(times(20, () => service.get('/api/items')));
    network.dropsPackets = true;
    // The second round meets no connection that is open.
    for (let round = 0; round < 2; round += 1) {
      const begun = performance.now();
      for (const { status, headers } of await Promise.all(sendAll('dropped')))
        expect([status, headers['retry-after']]).toEqual([503, '5']);
      expect(performance.now() - begun).toBeLessThan(4_000);
    }
    expect((await holder).status).toBe(503);
    network.dropsPackets = false;
    const after = performance.now();
    expect((await Promise.all(times(20, () => service.get('/api/items')))).map(({ status }) => status)).toEqual(
      times(20, () => 200),
    );
    for (const name of ['b', 'c'])
      expect((await service.send('PATCH', '/api/items/1', { json: { name } })).json.data).toEqual({ id: 1, name });
    expect((await service.post('/api/auth/login', user)).status).toBe(200);
    expect(performance.now() - after).toBeLessThan(1_000);
    await service.close();
  });
