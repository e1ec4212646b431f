/** Writes that a deadlock or a serialization failure rolls back are repeated, where that has no other effect. */
import { CrudController, IdempotencyKey } from 'declarest';
import {
  BeforeInsert,
  BeforeUpdate,
  Column,
  DeleteDateColumn,
  Entity,
  JoinTable,
  ManyToMany,
  PrimaryGeneratedColumn,
} from 'typeorm';
import { authModule } from '../access/ruled-app.js';
import { besides, SERVER_DATABASES, untilBlocked } from '../harness/busy-databases.js';
import type { Answer } from '../harness/client.js';
import type { DatabaseName } from '../harness/databases.js';
import { makeToken } from '../harness/tokens.js';
import { type CrudService, failure, startCrud } from './service.js';

@Entity()
class Tag {
  @PrimaryGeneratedColumn() id!: number;
}

@Entity()
class Item {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) name!: string;
  /** Its transformer keeps it from being compiled, and is no hook. */
  @Column({
    type: 'varchar',
    length: 20,
    default: 'a',
    transformer: { to: (value: string) => value, from: (value: string) => value },
  })
  note!: string;
  @ManyToMany(() => Tag) @JoinTable() tags!: Tag[];
  @DeleteDateColumn() deletedAt!: Date | null;
}

const calls: string[] = [];

@Entity()
class Heard {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) name!: string;

  @BeforeInsert()
  @BeforeUpdate()
  hear(): void {
    calls.push('heard');
  }
}

@Entity()
class Plain {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) name!: string;
  @DeleteDateColumn() deletedAt!: Date | null;
}

class Hooked extends CrudController({ entity: Plain, endpoint: '/hooked' }) {
  override beforeUpdate(): void {
    calls.push('before');
  }
}
class Retryable extends CrudController({ entity: Plain, endpoint: '/retryable', retryable: true }) {
  override beforeUpdate(): void {
    calls.push('before');
  }
  override afterUpdate(): void {
    calls.push('after');
  }
}

/** Triggers that fail as many times as `fails` says. Their counter is not rolled back. */
const TRIGGERS: Readonly<Partial<Record<DatabaseName, (table: string) => readonly string[]>>> = {
  postgres: (table) => [
    `CREATE TRIGGER fails BEFORE INSERT OR UPDATE OR DELETE ON ${table} FOR EACH ROW EXECUTE FUNCTION fail()`,
  ],
  mariadb: (table) =>
    ['INSERT', 'UPDATE', 'DELETE'].map(
      (event) => `CREATE TRIGGER fails_${table}_${event} BEFORE ${event} ON ${table} FOR EACH ROW BEGIN
        UPDATE fault SET tries = tries + 1;
        IF (SELECT tries <= fails FROM fault) THEN SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213; END IF; END`,
    ),
};
const PREPARE: Readonly<Partial<Record<DatabaseName, readonly string[]>>> = {
  postgres: [
    'CREATE SEQUENCE tries',
    'CREATE TABLE fails (count int)',
    'INSERT INTO fails VALUES (0)',
    `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       IF nextval('tries') <= (SELECT count FROM fails) THEN RAISE 'no' USING ERRCODE = '40001'; END IF;
       RETURN COALESCE(new, old); END $$`,
  ],
  // Of an engine without transactions.
  mariadb: ['CREATE TABLE fault (tries int, fails int) ENGINE = MyISAM', 'INSERT INTO fault VALUES (0, 0)'],
};
const fail = (database: DatabaseName, count: number): readonly string[] =>
  database === 'postgres'
    ? ["SELECT setval('tries', 1, false)", `UPDATE fails SET count = ${count}`]
    : [`UPDATE fault SET tries = 0, fails = ${count}`];

const UNAVAILABLE = [503, failure('The database is temporarily unavailable, try again'), '5'];
const shown = ({ status, json, headers }: Answer): unknown[] => [status, json, headers['retry-after']];

if (SERVER_DATABASES.length > 0)
  describe.each(SERVER_DATABASES)('on %s', (database) => {
    let service: CrudService;
    const token = makeToken();
    beforeAll(async () => {
      service = await startCrud('express', {
        database,
        entities: [Item, Tag, Heard, Plain, IdempotencyKey],
        resources: [
          { entity: Item, endpoint: '/items', linkableRelations: ['tags'], enableBatch: true, enableIdempotency: true },
          { entity: Plain, endpoint: '/plain', enableBatch: true, enableRestore: true },
          { entity: Heard, endpoint: '/heard' },
          { entity: Heard, endpoint: '/heard-again', retryable: true },
          Hooked,
          Retryable,
        ],
        imports: [authModule({ defaultAccess: 'public' })],
      });
      await service.dataSource.query(`INSERT INTO tag VALUES (1)`);
      const tables = ['item', 'heard', 'plain'].flatMap((table) => TRIGGERS[database]?.(table) ?? []);
      for (const sql of [...(PREPARE[database] ?? []), ...tables]) await service.dataSource.query(sql);
    });
    afterAll(() => service.close());
    beforeEach(async () => {
      calls.length = 0;
      await failing(0);
      for (const table of ['item_tags_tag', 'item', 'heard', 'plain'])
        await service.dataSource.query(`DELETE FROM ${table}`);
      for (const table of ['item', 'heard', 'plain'])
        await service.dataSource.query(`INSERT INTO ${table} (id, name) VALUES (101, 'a'), (102, 'a')`);
    });
    const failing = async (count: number): Promise<void> => {
      for (const sql of fail(database, count)) await service.dataSource.query(sql);
    };
    const patch = (path: string, json: unknown) => service.send('PATCH', path, { json });
    let keys = 0;

    const WRITES: readonly [string, number, () => Promise<Answer>][] = [
      ['POST', 201, () => service.post('/plain', { name: 'b' })],
      ['PUT', 200, () => service.put('/plain/101', { name: 'b' })],
      ['PATCH', 200, () => patch('/plain/101', { name: 'b' })],
      ['DELETE', 200, () => service.del('/plain/101')],
      ['POST of a batch', 201, () => service.post('/plain/batch', { items: [{ name: 'b' }, { name: 'c' }] })],
      ['PATCH of a batch', 200, () => patch('/plain/batch', { items: [{ id: 101, name: 'b' }] })],
      ['DELETE of a batch', 200, () => service.del('/plain/batch?ids=101,102')],
      ['POST with links', 201, () => service.post('/items', { name: 'b', tagsIds: [1] })],
      ['PATCH with links', 200, () => patch('/items/101', { name: 'b', tagsIds: [1] })],
      [
        'POST with a key',
        201,
        () =>
          service.send('POST', '/items', {
            token,
            json: { name: 'b' },
            headers: { 'idempotency-key': `k${(keys += 1)}` },
          }),
      ],
    ];

    it.each(WRITES)('[4.3] %s is repeated three times, then 503', async (_, status, write) => {
      const rows = async () => [
        await service.dataSource.query('SELECT * FROM plain ORDER BY id'),
        await service.dataSource.query('SELECT * FROM item ORDER BY id'),
        await service.dataSource.query('SELECT * FROM item_tags_tag'),
        (await service.dataSource.getRepository(IdempotencyKey).find()).length,
      ];
      const before = await rows();
      await failing(4);
      expect(shown(await write())).toEqual(UNAVAILABLE);
      expect(await rows()).toEqual(before);
      await failing(3);
      expect((await write()).status).toBe(status);
      expect(await rows()).not.toEqual(before);
    });

    it('[4.3] a restore is repeated', async () => {
      await service.del('/plain/101');
      await failing(3);
      expect((await service.send('POST', '/plain/101/restore')).status).toBe(200);
    });

    it('[4.3] a repeated POST with a key and links writes once, and its answer is given again', async () => {
      const headers = { 'idempotency-key': 'once' };
      const json = { name: 'b', tagsIds: [1] };
      await failing(3);
      const first = await service.send('POST', '/items', { token, json, headers });
      expect(first.json.data).toMatchObject({ name: 'b', tagsIds: [1] });
      const second = await service.send('POST', '/items', { token, json, headers });
      expect([second.text, second.headers['idempotency-replayed']]).toEqual([first.text, 'true']);
      expect(await service.dataSource.getRepository(Item).countBy({ name: 'b' })).toBe(1);
      expect(await service.dataSource.query('SELECT * FROM item_tags_tag')).toHaveLength(1);
    });

    it('[4.3] hooks and listeners are called once, unless the resource is retryable', async () => {
      await failing(1);
      expect(shown(await service.put('/hooked/101', { name: 'b' }))).toEqual(UNAVAILABLE);
      expect(calls).toEqual(['before']);
      await failing(1);
      expect(shown(await service.post('/heard', { name: 'b' }))).toEqual(UNAVAILABLE);
      expect(calls).toEqual(['before', 'heard']);
      calls.length = 0;
      await failing(3);
      expect((await service.put('/retryable/101', { name: 'b' })).json.data).toEqual({ id: 101, name: 'b' });
      expect(calls).toEqual(['before', 'before', 'before', 'before', 'after']);
      calls.length = 0;
      await failing(2);
      expect((await service.post('/heard-again', { name: 'b' })).status).toBe(201);
      expect(calls).toEqual(['heard', 'heard', 'heard']);
      // No hook of this operation is declared.
      await failing(2);
      expect((await service.del('/hooked/101')).status).toBe(200);
    });

    it('[4.3] a deadlock with another client is not seen', async () => {
      const other = await besides(service.dataSource);
      const [client, watcher] = [other.createQueryRunner(), other.createQueryRunner()];
      await client.query(database === 'postgres' ? 'BEGIN' : 'START TRANSACTION');
      // The one that has changed more is not the victim on MariaDB; the one that waits first is it on PostgreSQL.
      await client.query(`UPDATE heard SET name = 'c'`);
      await client.query(`UPDATE plain SET name = 'c' WHERE id = 102`);
      const answer = patch('/plain/batch', { items: [101, 102].map((id) => ({ id, name: 'b' })) });
      await untilBlocked(watcher, 1);
      await client.query(`UPDATE plain SET name = 'c' WHERE id = 101`);
      await client.query('COMMIT');
      expect((await answer).json.data).toMatchObject([{ name: 'b' }, { name: 'b' }]);
      for (const runner of [client, watcher]) await runner.release();
      await other.destroy();
    });
  });
