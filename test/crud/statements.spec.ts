import type { Type } from '@nestjs/common';
import { TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import { CrudController, CrudModule } from 'declarest';
import { Column, DataSource, Entity, type Logger, PrimaryGeneratedColumn } from 'typeorm';
import { createDatabase, DATABASES, IS_MYSQL } from '../harness/databases.js';
import { request } from '../harness/client.js';
import { type CrudParts, type CrudService, startCrud } from './service.js';

@Entity()
class Item {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 30, unique: true })
  name!: string;

  @Column({ type: 'int', nullable: true })
  amount!: number | null;
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
    expect((await service.get('/api/items')).status).toBeGreaterThanOrEqual(500);
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
    expect(seen.filter(([what]) => what === 'query')).toEqual([
      ['query', 'INSERT', ['other', 7]],
      // MySQL has no INSERT RETURNING.
      ...(database === 'mariadb' && IS_MYSQL ? [['query', 'SELECT', [2]]] : []),
      // PostgreSQL has UPDATE RETURNING.
      ...(database === 'postgres' ? [] : [['query', expect.stringMatching(/^(BEGIN|START)$/), expect.anything()]]),
      ['query', 'UPDATE', ['new', 8, 1]],
      ...(database === 'postgres'
        ? []
        : [
            ['query', 'SELECT', [1]],
            ['query', 'COMMIT', expect.anything()],
          ]),
      ['query', 'SELECT', [1]],
      ['query', 'DELETE', [1]],
    ]);
    logger.lines.length = 0;
    const taken = await service.post('/api/items', { name: 'other', amount: 7 });
    expect([taken.status, taken.text]).toEqual([409, expect.not.stringMatching(/INSERT|constraint|item/)]);
    expect(logger.lines.map(([what]) => what)).toEqual(expect.arrayContaining(['query', 'error']));
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

(DATABASES.includes('postgres') ? it : it.skip)(
  '[4.6] with a replica, reads there, and writes and what belongs to a write on the primary',
  async () => {
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
        await post('/api/items', { name: 'new' }),
        await put('/api/items/1', { name: 'put' }),
        await del('/api/items/1'),
        await get('/api/items'),
      ])
        answers.push([status, json.data]);
      await service.dataSource.query('TRUNCATE item RESTART IDENTITY');
      await service.close();
    }
    const replica = { id: 1, name: 'of the replica', amount: null };
    const primary = (name: string): object => ({ id: 1, name, amount: null });
    const each = [
      [200, replica],
      [201, primary('new')],
      [200, primary('put')],
      [200, null],
      [200, [replica]],
    ];
    expect(answers).toEqual([...each, ...each]);
    await master.drop();
    await slave.drop();
  },
);

(DATABASES.includes('postgres') ? it : it.skip)('[4.6] PostgreSQL may end connections', async () => {
  const service = await start({ database: 'postgres', dataSource: { poolSize: 1 } as object });
  await everything(service, 'a');
  const other = new DataSource({ ...service.dataSource.options, entities: [], synchronize: false } as never);
  await other.initialize();
  await other.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  );
  await other.destroy();
  let status = 0;
  for (let tries = 0; tries < 50 && status !== 200; tries += 1) ({ status } = await service.get('/api/items'));
  await everything(service, 'b');
  await service.close();
});
