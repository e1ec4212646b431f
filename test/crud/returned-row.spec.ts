import {
  Column,
  DeleteDateColumn,
  Entity,
  JoinColumn,
  ManyToOne,
  type Relation,
  EventSubscriber,
  PrimaryGeneratedColumn,
  VersionColumn,
  type EntitySubscriberInterface,
} from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { type CrudParts, type CrudService, startCrud } from './service.js';

const hasPostgres = DATABASES.includes('postgres');
const describePostgres = hasPostgres ? describe : describe.skip;
const itPostgres = hasPostgres ? it : it.skip;

@Entity()
class Part {
  @PrimaryGeneratedColumn({ type: 'bigint' })
  id!: string;

  @Column({ length: 60 })
  name!: string;

  @Column({ type: 'int', default: 3 })
  amount!: number;

  @Column({ type: 'varchar', length: 30, select: false, nullable: true })
  secret!: string | null;

  @VersionColumn()
  version!: number;
}

/** Rows of another amount than 3 have a trigger. */
const PARTITIONED = [
  'ALTER TABLE part RENAME TO old',
  'CREATE TABLE part (LIKE old INCLUDING DEFAULTS) PARTITION BY LIST (amount)',
  'CREATE TABLE few PARTITION OF part FOR VALUES IN (3)',
  'CREATE TABLE many PARTITION OF part DEFAULT',
  'CREATE TRIGGER t AFTER INSERT ON many FOR EACH ROW EXECUTE FUNCTION change()',
];

/** The same in a schema of its own, under a name that has to be quoted. */
@Entity({ name: "Part's of it", schema: 'store room' })
class Stored {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column({ length: 60 })
  name!: string;
}

const CHANGE = `CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF pg_trigger_depth() > 1 THEN RETURN NEW; END IF;
  IF TG_WHEN = 'BEFORE' THEN NEW.name := NEW.name || ' before'; RETURN NEW; END IF;
  UPDATE part SET name = name || ' after' WHERE name NOT LIKE '% after'; RETURN NULL; END $$`;

/** What stands behind a statement, what becomes of a name, and whether the row has to be read anew. */
const BEHIND: readonly [what: string, sql: string, name: string, reads: boolean][] = [
  ['nothing', '', 'new', false],
  ['a trigger before it', 'CREATE TRIGGER t BEFORE INSERT OR UPDATE ON part FOR EACH ROW', 'new before', false],
  ['a trigger after it', 'CREATE TRIGGER t AFTER INSERT OR UPDATE ON part FOR EACH ROW', 'new after', true],
  ['a trigger of the statement', 'CREATE TRIGGER t AFTER INSERT OR UPDATE ON part', 'new after', true],
  [
    'a deferred trigger',
    'CREATE CONSTRAINT TRIGGER t AFTER INSERT OR UPDATE ON part DEFERRABLE INITIALLY DEFERRED FOR EACH ROW',
    'new after',
    true,
  ],
  ['a trigger for something else', 'CREATE TRIGGER t AFTER DELETE ON part', 'new', false],
  [
    'a rule',
    `CREATE RULE r AS ON INSERT TO part DO ALSO UPDATE part SET name = name || ' after' WHERE name NOT LIKE '% after'`,
    'new after',
    true,
  ],
];

describePostgres('[4.6] on PostgreSQL what is written is given back', () => {
  let service: CrudService;
  let statements: string[];
  beforeEach(async () => {
    statements = [];
    service = await startCrud('express', {
      database: 'postgres',
      path: 'compiled',
      entities: [Part],
      resources: [{ entity: Part, endpoint: '/parts', maxListSize: 9 }],
      dataSource: { logger: { ...SILENT, logQuery: (sql: string) => void statements.push(sql.split(' ')[0] ?? '') } },
    });
    await service.dataSource.query(CHANGE);
  });
  afterEach(() => service.close());

  it.each(BEHIND)('with %s behind the statement', async (what, sql, name, reads) => {
    // Prepared before it is there.
    expect((await service.post('/parts', { name: 'first' })).json.data.name).toBe('first');
    expect((await service.put('/parts/1', { name: 'first after' })).json.data.name).toBe('first after');
    if (sql !== '') await service.dataSource.query(`${sql}${what === 'a rule' ? '' : ' EXECUTE FUNCTION change()'}`);
    statements.length = 0;
    const created = await service.post('/parts', { name: 'new' });
    expect(created.json.data).toEqual({ id: 2, name, amount: 3, version: 1 });
    expect(created.headers['location']).toBe('/parts/2');
    expect(statements).toEqual(['INSERT', ...(reads ? ['SELECT'] : [])]);
    expect((await service.get('/parts/2')).json.data).toEqual(created.json.data);
    statements.length = 0;
    const updated = await service.put('/parts/2', { name: 'new', amount: 5 });
    expect(statements[0]).toBe('UPDATE');
    expect((await service.get('/parts/2')).json.data).toEqual(updated.json.data);
    expect(updated.json.data).toMatchObject({ amount: 5, name: what === 'a rule' ? 'new' : name });
    expect((await service.put('/parts/7', { name: 'none' })).status).toBe(404);
  });

  it('a trigger that is disabled changes nothing', async () => {
    await service.dataSource.query(
      'CREATE TRIGGER t AFTER INSERT ON part EXECUTE FUNCTION change(); ALTER TABLE part DISABLE TRIGGER t',
    );
    statements.length = 0;
    expect((await service.post('/parts', { name: 'new' })).json.data.name).toBe('new');
    expect(statements).toEqual(['INSERT']);
  });

  it('a partition may have triggers of its own', async () => {
    for (const sql of PARTITIONED) await service.dataSource.query(sql);
    expect((await service.post('/parts', { name: 'new' })).json.data.name).toBe('new');
    expect((await service.post('/parts', { name: 'new', amount: 9 })).json.data.name).toBe('new after');
  });

  it('a row may stand in a table that inherits, which has triggers of its own', async () => {
    await service.dataSource.query('CREATE TABLE spare () INHERITS (part)');
    await service.dataSource.query('CREATE TRIGGER t AFTER UPDATE ON spare FOR EACH ROW EXECUTE FUNCTION change()');
    await service.dataSource.query(`INSERT INTO spare (name, version) VALUES ('old', 1)`);
    expect((await service.put('/parts/1', { name: 'new' })).json.data.name).toBe('new after');
  });

  it('a row may move to another partition, whose triggers hear of an insertion', async () => {
    for (const sql of PARTITIONED) await service.dataSource.query(sql);
    await service.post('/parts', { name: 'new' });
    expect((await service.put('/parts/1', { name: 'new', amount: 9 })).json.data.name).toBe('new after');
  });

  it.each([
    ['simple', ''],
    [
      'of INSTEAD OF triggers',
      `CREATE FUNCTION instead() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         IF TG_OP = 'INSERT' THEN NEW.id := nextval('part_id_seq'); NEW.amount := 4; NEW.version := 1; INSERT INTO base VALUES (NEW.*);
         ELSE UPDATE base SET name = NEW.name || ' instead' WHERE id = OLD.id; END IF; RETURN NEW; END $$;
       CREATE TRIGGER i INSTEAD OF INSERT OR UPDATE ON part FOR EACH ROW EXECUTE FUNCTION instead()`,
    ],
  ])('the table may be a view, %s', async (_, triggers) => {
    await service.dataSource.query('ALTER TABLE part RENAME TO base; CREATE VIEW part AS SELECT * FROM base');
    if (triggers !== '') await service.dataSource.query(triggers);
    const created = await service.post('/parts', { name: 'new', amount: 4 });
    expect([created.status, created.json.data.name, created.json.data.amount]).toEqual([201, 'new', 4]);
    const updated = await service.put('/parts/1', { name: 'newer', amount: 4 });
    expect(updated.json.data.name).toBe(triggers === '' ? 'newer' : 'newer instead');
  });

  it('a role may be granted some columns only', async () => {
    const role = `part_time_${process.pid}`;
    const { dataSource } = service;
    await dataSource.query(`CREATE ROLE ${role}`);
    const columns = 'id, name, amount, version';
    await dataSource.query(
      `GRANT SELECT (${columns}), INSERT, UPDATE ON part TO ${role}; GRANT USAGE ON part_id_seq TO ${role}`,
    );
    // Of every connection of the pool.
    await Promise.all(Array.from({ length: 20 }, () => dataSource.query(`SET ROLE ${role}`)));
    try {
      expect((await service.post('/parts', { name: 'new' })).status).toBe(201);
      expect((await service.put('/parts/1', { name: 'newer' })).json.data.name).toBe('newer');
    } finally {
      await Promise.all(Array.from({ length: 20 }, () => dataSource.query('RESET ROLE')));
      await dataSource.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    }
  });

  it('what is not read does not leave', async () => {
    const { text } = await service.post('/parts', { name: 'new', secret: 'hush' });
    expect(text).not.toContain('hush');
    expect((await service.put('/parts/1', { name: 'new', secret: 'hush' })).text).not.toContain('hush');
  });
});

const SILENT = {
  logQuery(): void {},
  logQueryError(): void {},
  logQuerySlow(): void {},
  logSchemaBuild(): void {},
  logMigration(): void {},
  log(): void {},
};

@Entity()
class Branch {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20, unique: true })
  code!: string;

  @ManyToOne('Branch', { nullable: true, onUpdate: 'CASCADE' })
  @JoinColumn({ referencedColumnName: 'code' })
  parent!: Relation<Branch> | null;
}

@Entity()
class Letter {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  code!: string;

  @DeleteDateColumn()
  removedAt!: Date | null;
}

describePostgres('[4.6] on PostgreSQL what is changed behind a statement', () => {
  const parts: CrudParts = {
    database: 'postgres',
    path: 'compiled',
    entities: [Branch, Letter],
    resources: [
      { entity: Branch, endpoint: '/branches', maxListSize: 9 },
      { entity: Letter, endpoint: '/letters', maxListSize: 9 },
    ],
  };

  it('by a cascade to the row itself is answered', async () => {
    const service = await startCrud('express', parts);
    await service.post('/branches', { code: 'a' });
    await service.put('/branches/1', { code: 'a', parentId: 'a' });
    const updated = await service.put('/branches/1', { code: 'b', parentId: 'a' });
    expect(updated.json.data).toEqual((await service.get('/branches/1')).json.data);
    await service.close();
  });

  it('or before it, so that the row is deleted at once, is no record', async () => {
    const service = await startCrud('express', parts);
    await service.dataSource.query(`CREATE FUNCTION remove() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN NEW."removedAt" := now(); RETURN NEW; END $$`);
    await service.dataSource.query(`CREATE TRIGGER t BEFORE INSERT OR UPDATE ON letter FOR EACH ROW
      WHEN (NEW.code = 'spam') EXECUTE FUNCTION remove()`);
    expect((await service.post('/letters', { code: 'spam' })).status).toBe(409);
    await service.post('/letters', { code: 'ham' });
    expect((await service.put('/letters/2', { code: 'ham' })).status).toBe(200);
    await service.dataSource.query('DELETE FROM letter WHERE id = 1');
    expect((await service.put('/letters/2', { code: 'spam' })).status).toBe(404);
    await service.close();
  });
});

@EventSubscriber()
class HearsLoads implements EntitySubscriberInterface<Part> {
  afterLoad(part: Part): void {
    part.name = `${part.name} loaded`;
  }
}

itPostgres('[4.6] who hears of what is loaded hears of what was written', async () => {
  const service = await startCrud('express', {
    database: 'postgres',
    entities: [Part],
    resources: [{ entity: Part, endpoint: '/parts', maxListSize: 9 }],
    dataSource: { subscribers: [HearsLoads] },
  });
  expect((await service.post('/parts', { name: 'new' })).json.data.name).toBe('new loaded');
  expect((await service.put('/parts/1', { name: 'newer' })).json.data.name).toBe('newer loaded');
  await service.close();
});

itPostgres('[4.6] a table of another schema is given back, too', async () => {
  const service = await startCrud('fastify', {
    database: 'postgres',
    path: 'compiled',
    entities: [Stored],
    // TypeORM makes no schema.
    dataSource: { synchronize: false },
    resources: [{ entity: Stored, endpoint: '/stored', maxListSize: 9 }],
  });
  await service.dataSource.query('CREATE SCHEMA "store room"; CREATE EXTENSION IF NOT EXISTS "uuid-ossp"');
  await service.dataSource.query(
    `CREATE TABLE "store room"."Part's of it" (id uuid DEFAULT uuid_generate_v4(), name text)`,
  );
  const { status, json, headers } = await service.post('/stored', { name: 'new' });
  expect([status, json.data.name]).toEqual([201, 'new']);
  const updated = await service.put(headers['location'] ?? '', { name: 'newer' });
  expect([updated.status, updated.json.data]).toEqual([200, { id: json.data.id, name: 'newer' }]);
  await service.close();
});
