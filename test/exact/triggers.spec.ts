/** Answers of writes where the table has AFTER triggers: they are what the next GET answers, with its version. */
import {
  Column,
  Entity,
  type MigrationInterface,
  PrimaryGeneratedColumn,
  type QueryRunner,
  VersionColumn,
} from 'typeorm';
import { startTwins, type Twins } from '../crud/twins.js';
import { DATABASES, type DatabaseName } from '../harness/databases.js';

@Entity()
class Entry {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  name!: string;

  @Column({ type: 'varchar', nullable: true, insert: false, update: false })
  low!: string | null;

  @VersionColumn()
  version!: number;
}

const CHANGE =
  'UPDATE entry SET low = lower(name), version = version + 1 WHERE id = NEW.id AND low IS DISTINCT FROM lower(name)';

const STATEMENTS: Readonly<Record<string, readonly string[]>> = {
  sqlite: [
    'CREATE TABLE entry (id integer PRIMARY KEY AUTOINCREMENT NOT NULL, name varchar NOT NULL, low varchar, version integer NOT NULL)',
    ...['INSERT', 'UPDATE'].map(
      (event) =>
        `CREATE TRIGGER after_${event} AFTER ${event} ON entry BEGIN ${CHANGE.replace('IS DISTINCT FROM', 'IS NOT')}; END`,
    ),
  ],
  postgres: [
    'CREATE TABLE entry (id serial PRIMARY KEY, name varchar NOT NULL, low varchar, version int NOT NULL)',
    `CREATE FUNCTION lowered() RETURNS trigger AS 'BEGIN ${CHANGE}; RETURN NULL; END' LANGUAGE plpgsql`,
    'CREATE TRIGGER after_write AFTER INSERT OR UPDATE ON entry FOR EACH ROW EXECUTE FUNCTION lowered()',
  ],
};

/** Triggers are read at the start. */
function migrationOf(database: DatabaseName) {
  return class Triggers1700000000000 implements MigrationInterface {
    async up(runner: QueryRunner): Promise<void> {
      for (const statement of STATEMENTS[database] ?? []) await runner.query(statement);
    }
    async down(): Promise<void> {}
  };
}

/** MariaDB and MySQL refuse a write whose trigger changes the table of the write. */
const CHANGING = DATABASES.filter((database) => database !== 'mariadb');

describe.skipIf(CHANGING.length === 0)('AFTER triggers', () => {
  describe.each(CHANGING)('on %s', (database) => {
    let twins: Twins;
    beforeAll(async () => {
      twins = await startTwins('express', {
        database,
        entities: [Entry],
        dataSource: { synchronize: false, migrationsRun: true, migrations: [migrationOf(database)] },
        resources: [{ entity: Entry, endpoint: '/entries', maxListSize: 50, enableBatch: true }],
      });
    });
    afterAll(() => twins.close());

    it('[4.1] POST answers what they leave', async () => {
      const { json, headers } = await twins.post('/entries', { name: 'ABC' });
      expect(json.data).toEqual({ id: json.data.id, name: 'ABC', low: 'abc', version: 2 });
      const read = await twins.get(`/entries/${json.data.id}`);
      expect([read.json.data, read.headers['etag']]).toEqual([json.data, headers['etag']]);
    });

    it('[8.2] a batch answers what they leave', async () => {
      const { json } = await twins.post('/entries/batch', { items: [{ name: 'D' }, { name: 'E' }] });
      expect(json.data.map(({ low, version }: { low: string; version: number }) => [low, version])).toEqual([
        ['d', 2],
        ['e', 2],
      ]);
    });

    it('[8.5] PUT and PATCH answer what they leave, with the version for the next change', async () => {
      const { json } = await twins.post('/entries', { name: 'ABC' });
      const path = `/entries/${json.data.id}`;
      const patched = await twins.send('PATCH', path, { json: { name: 'DEF' } });
      expect([patched.json.data, patched.headers['etag']]).toEqual([
        { ...json.data, name: 'DEF', low: 'def', version: 4 },
        '"4"',
      ]);
      const headers = { 'if-match': patched.headers['etag'] ?? '' };
      const replaced = await twins.send('PUT', path, { json: { name: 'GHI' }, headers });
      expect([replaced.status, replaced.json.data.low, replaced.headers['etag']]).toEqual([200, 'ghi', '"6"']);
    });
  });
});
