import type { Type } from '@nestjs/common';
import { TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import { CrudController, CrudModule } from 'declarest';
import { Column, DataSource, Entity, type Logger, PrimaryGeneratedColumn, type QueryRunner } from 'typeorm';
import { createDatabase, DATABASES } from '../harness/databases.js';
import { request } from '../harness/client.js';
import { type CrudParts, type CrudService, failure, startCrud } from './service.js';

@Entity()
class Item {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 30, unique: true })
  name!: string;

  @Column({ type: 'int', nullable: true })
  amount!: number | null;
}

/** Of pg. */
interface Client {
  readonly connection: { readonly stream: { destroy(error: Error): unknown } };
}
interface Pool {
  on(event: 'acquire', listener: (client: Client) => void): unknown;
}

class Log implements Logger {
  readonly lines: [what: string, sql: string, parameters: unknown[]][] = [];
  logQuery(sql: string, parameters: unknown[] = []): void {
    this.lines.push(['query', sql, parameters]);
  }
  logQueryError(_error: string | Error, sql: string, parameters: unknown[] = []): void {
    this.lines.push(['error', sql, parameters]);
  }
  logQuerySlow(_time: number, sql: string, parameters: unknown[] = []): void {
    this.lines.push(['slow', sql, parameters]);
  }
  logSchemaBuild(): void {}
  logMigration(): void {}
  log(): void {}
}

const RESOURCE = { entity: Item, endpoint: '/api/items', enablePagination: true, enableExists: true };
const start = (parts: CrudParts): Promise<CrudService> =>
  startCrud('express', { entities: [Item], resources: [RESOURCE], path: 'compiled', ...parts });

/** Every statement there is, twice, so that it is prepared. */
async function everything({ get, post, put, del }: CrudService, name: string): Promise<void> {
  for (const round of [1, 2]) {
    const made = await post('/api/items', { name: `${name}${round}`, amount: 1 });
    if (made.status !== 201) throw new Error(made.text);
    const path = made.headers['location']!;
    const { status, json } = await put(path, { name: `${name}${round}!`, amount: 2 });
    expect([status, json.data]).toEqual([200, { id: json.data.id, name: `${name}${round}!`, amount: 2 }]);
    expect((await get(path)).json.data).toEqual(json.data);
    expect((await get('/api/items')).json.metadata.pagination.total).toBe(1);
    expect((await get(path.replace('items/', 'items/exists/'))).json.data).toEqual({ exists: true });
    expect((await del(path)).status).toBe(200);
  }
}

describe.each(DATABASES)('on %s', (database) => {
  it('[4.6] the table may change while the service runs', async () => {
    const service = await start({ database });
    await everything(service, 'a');
    for (const sql of [
      'ALTER TABLE item ADD COLUMN more int',
      ...(database === 'postgres'
        ? [
            'ALTER TABLE item ALTER COLUMN amount TYPE bigint',
            'ALTER TABLE item ALTER COLUMN amount TYPE int',
            'ALTER TABLE item ALTER COLUMN name TYPE text',
          ]
        : []),
      'ALTER TABLE item DROP COLUMN more',
    ]) {
      await service.dataSource.query(sql);
      await everything(service, 'b');
    }
    await service.close();
  });

  it('[4.6] the data source may be closed and opened again', async () => {
    const service = await start({ database });
    await everything(service, 'a');
    await service.dataSource.destroy();
    expect((await service.get('/api/items')).status).toBe(500);
    await service.dataSource.initialize();
    await everything(service, 'b');
    await service.close();
  });

  it('[4.6] logging sees every statement with its values, and every failure', async () => {
    const logger = new Log();
    const service = await start({ database, dataSource: { logger } });
    await service.post('/api/items', { name: 'seen', amount: 7 });
    logger.lines.length = 0;
    await service.post('/api/items', { name: 'other', amount: 7 });
    await service.put('/api/items/1', { name: 'new', amount: 8 });
    await service.get('/api/items/1');
    await service.del('/api/items/1');
    const seen = logger.lines.map(([what, sql, parameters]) => [what, sql.split(' ')[0], parameters]);
    // PostgreSQL gives the row back.
    const reread = (id: number): unknown[] => (database === 'postgres' ? [] : [['query', 'SELECT', [id]]]);
    expect(seen.filter(([what]) => what === 'query')).toEqual([
      ['query', 'INSERT', ['other', 7]],
      ...reread(2),
      ['query', 'UPDATE', ['new', 8, 1]],
      ...reread(1),
      ['query', 'SELECT', [1]],
      ['query', 'DELETE', [1]],
    ]);
    logger.lines.length = 0;
    const taken = await service.post('/api/items', { name: 'other', amount: 7 });
    expect([taken.status, taken.text]).toEqual([409, expect.not.stringMatching(/INSERT|constraint|item/)]);
    expect(logger.lines.map(([what]) => what)).toEqual(expect.arrayContaining(['query', 'error']));
    await service.close();
  });

  it('[4.6] logging sees what is slow', async () => {
    const logger = new Log();
    const service = await start({ database, dataSource: { logger, maxQueryExecutionTime: 1 } });
    const { dataSource } = service;
    if (database === 'sqlite') {
      const { databaseConnection } = dataSource.driver as unknown as {
        databaseConnection: { function: (name: string, run: () => number) => void };
      };
      databaseConnection.function('nap', () => {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 30);
        return 1;
      });
    }
    for (const sql of {
      sqlite: ['CREATE TRIGGER slow AFTER INSERT ON item BEGIN SELECT nap(); END'],
      postgres: [
        'CREATE FUNCTION nap() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.03); RETURN new; END $$',
        'CREATE TRIGGER slow BEFORE INSERT ON item FOR EACH ROW EXECUTE FUNCTION nap()',
      ],
      mariadb: ['CREATE TRIGGER slow BEFORE INSERT ON item FOR EACH ROW DO SLEEP(0.03)'],
    }[database])
      await dataSource.query(sql);
    await service.post('/api/items', { name: 'seen', amount: 7 });
    const slow = logger.lines.filter(([what, sql]) => what === 'slow' && sql.startsWith('INSERT'));
    expect(slow.map(([, , parameters]) => parameters)).toEqual([['seen', 7]]);
    await service.close();
  });

  it('[4.6] two data sources have the same entity', async () => {
    const second = await createDatabase(database);
    class Seconds extends CrudController({ ...RESOURCE, endpoint: '/api/seconds', dataSource: 'second' }) {}
    const options = { ...second.options, name: 'second', autoLoadEntities: false, entities: [Item] };
    const service = await start({
      database,
      imports: [TypeOrmModule.forRoot(options as TypeOrmModuleOptions), CrudModule.forFeature(Seconds as Type)],
      onClose: () => second.drop(),
    });
    const send = (method: string, path: string, json?: unknown) => request(service.url, method, path, { json });
    await send('POST', '/api/items', { name: 'first' });
    await send('POST', '/api/seconds', { name: 'second' });
    await send('POST', '/api/seconds', { name: 'third' });
    expect((await send('GET', '/api/items/1')).json.data.name).toBe('first');
    expect((await send('GET', '/api/seconds/1')).json.data.name).toBe('second');
    expect((await send('GET', '/api/items/2')).status).toBe(404);
    expect((await send('PUT', '/api/seconds/2', { name: 'put' })).json.data.name).toBe('put');
    await service.close();
  });
});

it('[4.6] on SQLite, a statement is part of the transaction that its one connection is in', async () => {
  const service = await start({});
  await service.post('/api/items', { name: 'before' });
  const runner = service.dataSource.createQueryRunner();
  await runner.startTransaction();
  await runner.query("INSERT INTO item (name) VALUES ('inside')");
  expect((await service.get('/api/items/2')).json.data.name).toBe('inside');
  expect((await service.post('/api/items', { name: 'with it' })).status).toBe(201);
  await runner.rollbackTransaction();
  expect((await service.get('/api/items')).json.data).toEqual([{ id: 1, name: 'before', amount: null }]);
  await service.close();
});

(DATABASES.includes('postgres') ? describe : describe.skip)('PostgreSQL', () => {
  const onePool = { poolSize: 1 } as object;
  const prepared = async ({ dataSource }: CrudService): Promise<number> => {
    const [row] = await dataSource.query<{ count: string }[]>('SELECT count(*) FROM pg_prepared_statements');
    return Number(row!.count);
  };

  it('[4.6] forgets what was prepared, and loses connections', async () => {
    const service = await start({ database: 'postgres', dataSource: onePool });
    await everything(service, 'a');
    expect(await prepared(service)).toBeGreaterThan(3);
    await service.dataSource.query('DISCARD ALL');
    await everything(service, 'b');
    const other = new DataSource({ ...service.dataSource.options, entities: [], synchronize: false } as never);
    await other.initialize();
    await other.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
    await other.destroy();
    // The pool hears of it as soon as its socket does.
    for (let status = 500; status !== 200;) ({ status } = await service.get('/api/items'));
    await everything(service, 'c');
    await service.close();
  });

  /** Ways to lose the connection whose statement waits for a lock. */
  const LOSSES: [string, (other: QueryRunner, client: Client | undefined, dataSource: DataSource) => unknown][] = [
    [
      'by the server',
      (other) =>
        other.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        ),
    ],
    ['where the data source is destroyed', (_other, _client, dataSource) => dataSource.destroy()],
    ['by the network', (_, client) => client?.connection.stream.destroy(new Error('reset'))],
  ];

  it.each(LOSSES)('[4.6] loses a connection amid a statement, %s, and takes another one', async (_, lose) => {
    const service = await start({ database: 'postgres', dataSource: onePool });
    await service.post('/api/items', { name: 'a' });
    const other = new DataSource({ ...service.dataSource.options, entities: [], synchronize: false } as never);
    await other.initialize();
    const runner = other.createQueryRunner();
    await runner.startTransaction();
    await runner.query('LOCK TABLE item');
    const clients: Client[] = [];
    (service.dataSource.driver as unknown as { master: Pool }).master.on('acquire', (client) => clients.push(client));
    const waiting = service.get('/api/items/1');
    const isWaiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    while (((await runner.query(isWaiting)) as unknown as object[]).length === 0);
    await lose(runner, clients.at(-1), service.dataSource);
    const { status, json } = await waiting;
    expect([status, json]).toEqual([500, failure('Internal server error')]);
    await runner.commitTransaction();
    await runner.release();
    await other.destroy();
    if (!service.dataSource.isInitialized) await service.dataSource.initialize();
    expect((await service.get('/api/items/1')).status).toBe(200);
    await service.close();
  });

  it('[4.6] a connection that the server says it ends is given to nobody else, also before its socket has heard of it', async () => {
    const service = await start({ database: 'postgres', dataSource: onePool });
    await service.dataSource.query(
      `CREATE FUNCTION ends() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'ends' USING ERRCODE = '57P01'; END $$`,
    );
    await service.dataSource.query('CREATE TRIGGER ends BEFORE INSERT ON item FOR EACH ROW EXECUTE FUNCTION ends()');
    const pid = async (): Promise<unknown> => (await service.dataSource.query('SELECT pg_backend_pid() AS pid'))[0].pid;
    const before = await pid();
    expect((await service.post('/api/items', { name: 'a' })).status).toBe(500);
    expect(await pid()).not.toBe(before);
    await service.dataSource.query('DROP FUNCTION ends CASCADE');
    await service.close();
  });

  it('[4.6] a statement that its connection has lost is prepared anew, under another name', async () => {
    const service = await start({ database: 'postgres', dataSource: onePool });
    await service.post('/api/items', { name: 'a' });
    await service.get('/api/items/1');
    await service.dataSource.query('DEALLOCATE ALL');
    const counts: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      expect((await service.get('/api/items/1')).status).toBe(200);
      counts.push(await prepared(service));
    }
    expect(counts).toEqual([0, 1, 1]);
    await service.close();
  });

  it('[4.6] behind a pooler that gives every statement another connection, keeps a few names and no more', async () => {
    const service = await start({ database: 'postgres', dataSource: onePool });
    await service.post('/api/items', { name: 'a' });
    for (let round = 0; round < 60; round += 1) {
      await service.dataSource.query('DEALLOCATE ALL');
      expect((await service.get('/api/items/1')).status).toBe(200);
    }
    // No more than this one is given up each time.
    await service.get('/api/items/1');
    expect(await prepared(service)).toBe(0);
    await service.close();
  });

  it('[4.6] a refusal of a trigger with the code of a changed schema is no such thing', async () => {
    const service = await start({ database: 'postgres', dataSource: onePool });
    await service.dataSource.query(
      `CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no' USING ERRCODE = '0A000'; END $$`,
    );
    await service.dataSource.query('CREATE TRIGGER no BEFORE INSERT ON item FOR EACH ROW EXECUTE FUNCTION no()');
    const counts: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      expect((await service.post('/api/items', { name: 'a' })).status).toBe(500);
      counts.push(await prepared(service));
    }
    expect(counts[2]).toBe(counts[0]);
    await service.close();
  });

  it('[4.6] however many sets of fields clients send, the server prepares a bounded number', async () => {
    const FIELDS = 9;
    class Wide {
      id!: number;
    }
    PrimaryGeneratedColumn()(Wide.prototype, 'id');
    for (let index = 0; index < FIELDS; index += 1)
      Column({ type: 'int', nullable: true })(Wide.prototype, `f${index}`);
    Entity()(Wide);
    const service = await start({
      database: 'postgres',
      dataSource: onePool,
      entities: [Wide],
      resources: [{ entity: Wide, endpoint: '/api/wide', maxListSize: 1 }],
    });
    for (let shape = 0; shape < 2 ** FIELDS; shape += 1) {
      const body = Object.fromEntries(
        Array.from({ length: FIELDS }, (_, index) => [`f${index}`, shape & (1 << index) ? index : undefined]),
      );
      const { status, json } = await service.post('/api/wide', body);
      expect([status, json.data]).toEqual([
        201,
        { id: shape + 1, ...Object.fromEntries(Object.entries(body).map(([name, value]) => [name, value ?? null])) },
      ]);
    }
    expect(await prepared(service)).toBeLessThanOrEqual(70);
    await service.close();
  });

  it('[4.6] with a replica, reads where TypeORM reads and writes where it writes', async () => {
    const master = await createDatabase('postgres');
    const slave = await createDatabase('postgres');
    const copy = new DataSource({ ...slave.options, entities: [Item] } as never);
    await copy.initialize();
    await copy.query("INSERT INTO item (name) VALUES ('of the replica')");
    await copy.destroy();
    const urlOf = ({ options }: typeof master): object => ({ url: (options as { url: string }).url });
    const answers: unknown[] = [];
    for (const path of ['compiled', 'repository'] as const) {
      const service = await start({
        database: 'postgres',
        path,
        dataSource: { url: undefined, replication: { master: urlOf(master), slaves: [urlOf(slave)] } } as never,
      });
      const { get, post, put, del } = service;
      for (const { status, json } of [
        await get('/api/items/1'),
        await post('/api/items', { name: `new ${path}` }),
        await put('/api/items/1', { name: `put ${path}` }),
        await del('/api/items/1'),
        await get('/api/items'),
      ])
        answers.push([status, json.data]);
      await service.dataSource.query('TRUNCATE item RESTART IDENTITY');
      await service.close();
    }
    expect(answers.slice(0, 5)).toEqual(answers.slice(5));
    await master.drop();
    await slave.drop();
  });
});

(DATABASES.includes('mariadb') ? it : it.skip)('[4.6] MariaDB may kill connections', async () => {
  const service = await start({ database: 'mariadb', dataSource: { poolSize: 1 } as object });
  await everything(service, 'a');
  const other = new DataSource({ ...service.dataSource.options, entities: [], synchronize: false } as never);
  await other.initialize();
  const rows = await other.query<{ id: number }[]>(
    'SELECT id FROM information_schema.processlist WHERE db = database() AND id <> connection_id()',
  );
  for (const { id } of rows) await other.query(`KILL ${id}`);
  await other.destroy();
  for (let status = 500; status !== 200;) ({ status } = await service.get('/api/items'));
  await everything(service, 'b');
  await service.close();
});
