/** Errors that come from the database itself: at the commit, from triggers, grants and limits, from a full or read-only one. */
import { randomBytes } from 'node:crypto';
import { CrudController, IdempotencyKey } from 'declarest';
import {
  Column,
  DeleteDateColumn,
  Entity,
  Index,
  JoinTable,
  ManyToMany,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  type Relation,
  Unique,
} from 'typeorm';
import { authModule } from '../access/ruled-app.js';
import type { Answer } from '../harness/client.js';
import { type DatabaseName, DATABASES, IS_MYSQL } from '../harness/databases.js';
import { makeToken } from '../harness/tokens.js';
import { type CrudService, failure, startCrud } from './service.js';

@Entity()
class Tag {
  @PrimaryColumn({ type: 'int' }) id!: number;
}

/** Its foreign key is checked by the commit, and so is its unique constraint on PostgreSQL. */
@Entity()
@Unique(['slot'], { deferrable: 'INITIALLY DEFERRED' })
class Part {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ type: 'int', nullable: true }) slot!: number | null;
  @ManyToOne(() => Part, { nullable: true, deferrable: 'INITIALLY DEFERRED' }) whole!: Relation<Part> | null;
  @ManyToMany(() => Tag) @JoinTable() tags!: Tag[];
}

@Entity()
class Item {
  @PrimaryGeneratedColumn() id!: number;
  // MySQL has no index of a text without a length.
  @Index() @Column({ type: IS_MYSQL ? 'varchar' : 'text', nullable: true }) code!: string | null;
  @Column({ type: 'text', nullable: true }) note!: string | null;
  @DeleteDateColumn() deletedAt!: Date | null;
}

@Entity()
class Plain {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) note!: string;
}

class Hooked extends CrudController({ entity: Part, endpoint: '/hooked' }) {
  override beforeCreate(): void {}
  override beforeUpdate(): void {}
  override beforeDelete(): void {}
}

const running: CrudService[] = [];
afterAll(async () => {
  for (const service of running) await service.close();
});

const shown = ({ status, json }: Answer): unknown[] => [status, json];

// MariaDB and MySQL have no deferred constraints.
const DEFERRING = DATABASES.filter((name) => name !== 'mariadb');
describe.each(DEFERRING)('constraints that are checked by the commit, on %s', (database) => {
  let service: CrudService;
  let used: number;
  let free: number;
  beforeAll(async () => {
    service = await startCrud('express', {
      database,
      entities: [Part, Tag, IdempotencyKey],
      resources: [
        { entity: Part, endpoint: '/parts', enableBatch: true },
        { entity: Part, endpoint: '/linked', linkableRelations: ['tags'] },
        { entity: Part, endpoint: '/keyed', enableIdempotency: true },
        Hooked,
      ],
      imports: [authModule({ defaultAccess: 'public' })],
    });
    running.push(service);
    await service.dataSource.getRepository(Tag).insert({ id: 1 });
    used = (await service.post('/parts', { slot: 1 })).json.data.id;
    free = (await service.post('/parts', { slot: 2, wholeId: used })).json.data.id;
  });

  const token = makeToken();
  let keys = 0;
  const keyed = (json: object) => {
    const headers = { 'idempotency-key': `key-${(keys += 1)}` };
    return service.send('POST', '/keyed', { json, token, headers });
  };
  const writes: [string, (json: object) => Promise<Answer>][] = [
    ['POST with links', (json) => service.post('/linked', { ...json, tagsIds: [1] })],
    ['PUT with links', (json) => service.put(`/linked/${free}`, { ...json, tagsIds: [1] })],
    ['PATCH with links', (json) => service.send('PATCH', `/linked/${free}`, { json: { ...json, tagsIds: [1] } })],
    ['POST with a key', keyed],
    ['POST with a hook', (json) => service.post('/hooked', json)],
    ['PUT with a hook', (json) => service.put(`/hooked/${free}`, json)],
    ['PATCH with a hook', (json) => service.send('PATCH', `/hooked/${free}`, { json })],
    ['POST of a batch', (json) => service.post('/parts/batch', { items: [json] })],
    ['PATCH of a batch', (json) => service.send('PATCH', '/parts/batch', { json: { items: [{ id: free, ...json }] } })],
  ];

  it.each(writes)('[4.3] a missing reference is 409 for %s', async (what, write) => {
    const operation = what.startsWith('POST') ? 'created' : 'updated';
    const reason = 'refers to a record that does not exist';
    expect(shown(await write({ slot: 3, wholeId: 4711 }))).toEqual([
      409,
      failure(`Part cannot be ${operation}: wholeId ${reason}`, { wholeId: reason }),
    ]);
    expect((await service.get(`/parts/${free}`)).json.data).toEqual({ id: free, slot: 2, wholeId: used });
    expect(await service.dataSource.getRepository(Part).count()).toBe(2);
  });

  (database === 'postgres' ? it : it.skip).each(writes)('[4.3] a taken value is 409 for %s', async (what, write) => {
    const operation = what.startsWith('POST') ? 'created' : 'updated';
    expect(shown(await write({ slot: 1, wholeId: null }))).toEqual([
      409,
      failure(`Part cannot be ${operation}: slot is already taken`, { slot: 'is already taken' }),
    ]);
    expect(await service.dataSource.getRepository(Part).count()).toBe(2);
  });

  it('[4.3] DELETE of a record that others refer to is 409 with a hook, and in a batch', async () => {
    for (const path of [`/hooked/${used}`, `/parts/batch?ids=${used}`])
      expect(shown(await service.del(path))).toEqual([
        409,
        failure('Part cannot be deleted: other records refer to it'),
      ]);
    expect(await service.dataSource.getRepository(Part).count()).toBe(2);
  });
});

const SEVEN: readonly [string, (service: CrudService, id: number) => Promise<Answer>][] = [
  ['POST', (service) => service.post('/items', { note: 'a' })],
  ['PUT', (service, id) => service.put(`/items/${id}`, { note: 'a' })],
  ['PATCH', (service, id) => service.send('PATCH', `/items/${id}`, { json: { note: 'a' } })],
  ['DELETE', (service, id) => service.del(`/items/${id}`)],
  ['POST of a batch', (service) => service.post('/items/batch', { items: [{ note: 'a' }, { note: 'b' }] })],
  [
    'PATCH of a batch',
    (service, id) => service.send('PATCH', '/items/batch', { json: { items: [{ id, note: 'a' }] } }),
  ],
  ['restore', (service, id) => service.send('POST', `/items/${id + 1}/restore`)],
];

/** @returns a service with one item, and with a hidden one behind it */
async function startItems(database: DatabaseName): Promise<{ service: CrudService; id: number }> {
  const service = await startCrud('fastify', {
    database,
    entities: [Item, Plain],
    resources: [
      { entity: Item, endpoint: '/items', enableBatch: true, enableRestore: true },
      { entity: Plain, endpoint: '/plain' },
    ],
    // The settings of its only connection are those of every statement.
    dataSource: { extra: database === 'postgres' ? { max: 1 } : { connectionLimit: 1 } } as never,
  });
  running.push(service);
  const { id } = (await service.post('/items', { note: 'old' })).json.data as { id: number };
  await service.post('/items', { note: 'hidden' });
  await service.del(`/items/${id + 1}`);
  return { service, id };
}

const UNAVAILABLE = [503, failure('The database is temporarily unavailable, try again'), '5'];
const NOT_VALID = [400, failure('Item is not valid: the database does not accept one of its values'), undefined];
const DENIED = [403, expect.objectContaining({ error: 'Access denied' }) as unknown, undefined];
const withRetry = (answer: Answer): unknown[] => [...shown(answer), answer.headers['retry-after']];

describe.each(DATABASES)('a database that cannot be written, on %s', (database) => {
  const settings: Readonly<Record<DatabaseName, readonly [string, string, string][]>> = {
    sqlite: [['read-only', 'PRAGMA query_only = ON', 'PRAGMA query_only = OFF']],
    postgres: [['read-only', 'SET default_transaction_read_only = on', 'RESET default_transaction_read_only']],
    mariadb: [['read-only', 'SET SESSION TRANSACTION READ ONLY', 'SET SESSION TRANSACTION READ WRITE']],
  };

  it.each(settings[database])('[4.3] is 503 with Retry-After for all kinds of write: %s', async (_, set, reset) => {
    const { service, id } = await startItems(database);
    await service.dataSource.query(set);
    for (const [what, write] of SEVEN)
      expect([what, ...withRetry(await write(service, id))]).toEqual([what, ...UNAVAILABLE]);
    expect((await service.get(`/items/${id}`)).status).toBe(200);
    await service.dataSource.query(reset);
    for (const [what, write] of SEVEN.slice(0, 2))
      expect([what, (await write(service, id)).status]).toEqual([what, what === 'POST' ? 201 : 200]);
  });
});

(DATABASES.includes('sqlite') ? it : it.skip)('[4.3] a full disk is 503 with Retry-After, on sqlite', async () => {
  const { service, id } = await startItems('sqlite');
  const [{ page_count: pages }] = await service.dataSource.query('PRAGMA page_count');
  await service.dataSource.query(`PRAGMA max_page_count = ${pages}`);
  const note = 'x'.repeat(100_000);
  for (const answer of [await service.post('/items', { note }), await service.put(`/items/${id}`, { note })])
    expect(withRetry(answer)).toEqual(UNAVAILABLE);
});

/** What a trigger raises, by the code that the test puts into the table `fault`. */
const TRIGGERS: Readonly<Partial<Record<DatabaseName, readonly string[]>>> = {
  postgres: [
    'CREATE TABLE fault (code text)',
    `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       RAISE EXCEPTION 'a detail' USING ERRCODE = (SELECT code FROM fault); END $$`,
    'CREATE TRIGGER fails BEFORE INSERT OR UPDATE OR DELETE ON item FOR EACH ROW EXECUTE FUNCTION fail()',
  ],
  mariadb: [
    'CREATE TABLE fault (code int)',
    ...['INSERT', 'UPDATE', 'DELETE'].map(
      (event) => `CREATE TRIGGER fails_${event} BEFORE ${event} ON item FOR EACH ROW BEGIN
        DECLARE number INT DEFAULT (SELECT code FROM fault);
        SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = number, MESSAGE_TEXT = 'a detail'; END`,
    ),
  ],
};

/** By errors of the server that are hard to cause, and by SQLSTATEs that a trigger may choose. */
const RAISED: Readonly<Partial<Record<DatabaseName, readonly [string | number, unknown[]][]>>> = {
  postgres: [
    ['42501', DENIED],
    ['54000', NOT_VALID],
    ['44000', NOT_VALID],
    ['P0001', NOT_VALID],
    ['P0409', NOT_VALID],
    ['45000', NOT_VALID],
    ['ZZ001', NOT_VALID],
    ['AB123', NOT_VALID],
    ['XX000', NOT_VALID],
    ['25006', UNAVAILABLE],
    ['53100', UNAVAILABLE],
  ],
  mariadb: [
    [1142, DENIED],
    [1143, DENIED],
    [1118, NOT_VALID],
    [1365, NOT_VALID],
    [1369, NOT_VALID],
    [1526, NOT_VALID],
    [1644, NOT_VALID],
    [30_001, NOT_VALID],
    [1290, UNAVAILABLE],
    [1836, UNAVAILABLE],
    [1021, UNAVAILABLE],
    [1047, UNAVAILABLE],
    [1114, UNAVAILABLE],
  ],
};

const RAISING = DATABASES.filter((name) => name !== 'sqlite');
if (RAISING.length > 0)
  describe.each(RAISING)('errors of the server and of triggers, on %s', (database) => {
    let service: CrudService;
    let id: number;
    beforeAll(async () => {
      ({ service, id } = await startItems(database));
      for (const sql of TRIGGERS[database] ?? []) await service.dataSource.query(sql);
    });

    it.each(RAISED[database] ?? [])('[4.3] %s has its status for all kinds of write', async (code, expected) => {
      await service.dataSource.query('DELETE FROM fault');
      await service.dataSource.query(`INSERT INTO fault VALUES ('${code}')`);
      for (const [what, write] of SEVEN)
        expect([what, ...withRetry(await write(service, id))]).toEqual([what, ...expected]);
    });
  });

if (DATABASES.includes('postgres'))
  describe('grants and limits of PostgreSQL', () => {
    it('[4.3] a missing grant, and a row that row-level security refuses, are 403', async () => {
      const { service } = await startItems('postgres');
      const query = (sql: string): Promise<unknown> => service.dataSource.query(sql);
      await service.post('/plain', { note: 'seen' });
      await query('SET ROLE pg_read_all_data');
      expect(withRetry(await service.post('/plain', { note: 'a' }))).toEqual(DENIED);
      expect(withRetry(await service.put('/plain/1', { note: 'a' }))).toEqual(DENIED);
      expect(withRetry(await service.del('/plain/1'))).toEqual(DENIED);
      expect((await service.get('/plain/1')).json.data.note).toBe('seen');
      await query('RESET ROLE');
      await query('GRANT ALL ON plain TO pg_write_all_data; GRANT ALL ON SEQUENCE plain_id_seq TO pg_write_all_data');
      await query('ALTER TABLE plain ENABLE ROW LEVEL SECURITY');
      await query(`CREATE POLICY visible ON plain USING (true) WITH CHECK (note <> 'forbidden')`);
      await query('SET ROLE pg_write_all_data');
      expect(withRetry(await service.post('/plain', { note: 'forbidden' }))).toEqual(DENIED);
      expect(withRetry(await service.put('/plain/1', { note: 'forbidden' }))).toEqual(DENIED);
      expect((await service.put('/plain/1', { note: 'allowed' })).status).toBe(200);
    });

    it.each([2_100, 30_000])('[4.3] a text of %i random bytes is 400 naming the indexed column', async (size) => {
      const { service, id } = await startItems('postgres');
      const body = { code: randomBytes(size).toString('base64'), note: 'x'.repeat(100_000) };
      for (const answer of [await service.post('/items', body), await service.put(`/items/${id}`, body)])
        expect(shown(answer)).toEqual([
          400,
          {
            ...failure('Item is not valid', { code: 'is too long for an index' }),
            errors: [{ field: 'code', message: 'is too long for an index' }],
          },
        ]);
    });
  });
