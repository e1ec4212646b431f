import { Column, DeleteDateColumn, Entity, PrimaryGeneratedColumn, UpdateDateColumn, VersionColumn } from 'typeorm';
import { type DatabaseName, DATABASES } from '../harness/databases.js';
import { startTwins, type Twins } from './twins.js';

@Entity()
class Page {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20, unique: true })
  name!: string;

  @Column({ type: 'varchar', length: 40, nullable: true })
  heard!: string | null;

  @Column({ length: 20, update: false, default: 'fixed' })
  locked!: string;

  @VersionColumn()
  version!: number;

  @UpdateDateColumn()
  updated!: Date;

  @DeleteDateColumn()
  deleted!: Date | null;
}

@Entity()
class Fixed {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20, update: false })
  name!: string;

  @VersionColumn()
  version!: number;
}

@Entity()
class Host {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'inet', unique: true })
  address!: string;
}

const TRIGGERS: Readonly<Record<DatabaseName, readonly string[]>> = {
  sqlite: [
    `CREATE TRIGGER made AFTER INSERT ON page BEGIN UPDATE page SET heard = 'made ' || new.name WHERE id = new.id; END`,
    `CREATE TRIGGER put AFTER UPDATE OF name ON page WHEN new.name LIKE 'put%'
     BEGIN UPDATE page SET heard = 'put ' || new.name WHERE id = new.id; END`,
    `CREATE TRIGGER kept BEFORE UPDATE ON page WHEN new.name = 'kept' BEGIN SELECT RAISE(IGNORE); END`,
    `CREATE TRIGGER refused BEFORE UPDATE ON page WHEN new.name = 'refused' BEGIN SELECT RAISE(ABORT, 'no'); END`,
  ],
  postgres: [
    `CREATE FUNCTION heard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       IF new.name = 'kept' THEN RETURN NULL; END IF;
       IF new.name = 'refused' THEN RAISE 'no' USING ERRCODE = 'check_violation'; END IF;
       IF new.name = 'raised' THEN RAISE 'no'; END IF;
       IF TG_OP = 'INSERT' THEN new.heard = 'made ' || new.name;
       ELSIF new.name LIKE 'put%' THEN new.heard = 'put ' || new.name; END IF;
       RETURN new; END $$`,
    'CREATE TRIGGER heard BEFORE INSERT OR UPDATE ON page FOR EACH ROW EXECUTE FUNCTION heard()',
  ],
  mariadb: [
    `CREATE TRIGGER made BEFORE INSERT ON page FOR EACH ROW SET new.heard = concat('made ', new.name)`,
    `CREATE TRIGGER put BEFORE UPDATE ON page FOR EACH ROW BEGIN
       IF new.name LIKE 'put%' THEN SET new.heard = concat('put ', new.name); END IF;
       IF new.name = 'refused' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'; END IF;
     END`,
  ],
};

describe.each(DATABASES)('PUT on %s, by compiled statements and by the repository', (database) => {
  const entities = [Page, Fixed, ...(database === 'postgres' ? [Host] : [])];
  let twins: Twins;
  beforeAll(async () => {
    twins = await startTwins('express', {
      database,
      entities,
      resources: entities.map((entity) => ({ entity, endpoint: `/api/${entity.name.toLowerCase()}` })),
    });
    for (const trigger of TRIGGERS[database]) await twins.query(trigger);
  });
  afterAll(() => twins.close());

  const rows = async (): Promise<unknown> => {
    const [mine, other] = await Promise.all(
      [twins.compiled, twins.repository].map(({ dataSource }) =>
        dataSource.query('SELECT id, name, heard, locked, version, deleted IS NULL AS alive FROM page ORDER BY id'),
      ),
    );
    expect(mine).toEqual(other);
    return mine;
  };

  it('[4.6] returns 404 for a deleted record, and changes nothing', async () => {
    const { json } = await twins.post('/api/page', { name: 'gone' });
    const path = `/api/page/${json.data.id}`;
    expect((await twins.del(path)).status).toBe(200);
    const before = await rows();
    for (const body of [{ name: 'back' }, { ...json.data, name: 'back' }, { name: 'gone', heard: 'x' }])
      expect((await twins.put(path, { ...body, updated: undefined })).status).toBe(404);
    expect((await twins.put(path, {})).status).toBe(404);
    expect((await twins.del(path)).status).toBe(404);
    expect(await rows()).toEqual(before);
  });

  it('[4.6] returns 404 for a missing record before any other failure', async () => {
    await twins.post('/api/page', { name: 'taken' });
    for (const body of [
      { name: 'taken' },
      {},
      { name: null },
      { nothing: 1 },
      { name: 'x', locked: 'other' },
      { id: 1 },
    ])
      expect((await twins.put('/api/page/99', body)).status).toBe(404);
    expect((await twins.put('/api/page/x', {})).status).toBe(400);
    if (database !== 'postgres') return;
    // Refused before PostgreSQL looks for the record.
    await twins.post('/api/host', { address: '10.0.0.1' });
    expect((await twins.put('/api/host/99', { address: 'none' })).status).toBe(404);
    expect((await twins.put('/api/host/1', { address: 'none' })).status).toBe(400);
  });

  it('[4.6] returns 400 for a wrong field before 409 for a taken value', async () => {
    const { json } = await twins.post('/api/page', { name: 'other' });
    const path = `/api/page/${json.data.id}`;
    expect((await twins.put(path, { name: 'taken', locked: 'other' })).status).toBe(400);
    expect((await twins.put(path, { name: 'taken', nothing: 1 })).status).toBe(400);
    expect((await twins.put(path, { name: 'taken' })).status).toBe(409);
  });

  it('[4.6] increments the version, also if nothing changes', async () => {
    const { json } = await twins.post('/api/page', { name: 'same' });
    const path = `/api/page/${json.data.id}`;
    for (const version of [2, 3, 4]) {
      const answer = await twins.put(path, { name: 'same' });
      expect([answer.status, answer.json.data.version]).toEqual([200, version]);
    }
    await twins.post('/api/fixed', { name: 'same' });
    for (const body of [{}, { name: 'same' }, { id: 1, version: 1, name: 'same' }]) {
      const answer = await twins.put('/api/fixed/1', body);
      expect([answer.status, answer.json.data]).toEqual([200, { id: 1, name: 'same', version: 1 }]);
    }
    expect((await twins.put('/api/fixed/2', {})).status).toBe(404);
  });

  it('[4.6] answers with the record as a trigger changed it', async () => {
    const { json } = await twins.post('/api/page', { name: 'heard' });
    expect(json.data.heard).toBe('made heard');
    const path = `/api/page/${json.data.id}`;
    expect((await twins.put(path, { name: 'put', heard: 'x' })).json.data.heard).toBe('put put');
    for (const name of database === 'postgres' ? ['refused', 'raised'] : ['refused']) {
      const refused = await twins.put(path, { name });
      expect([400, 409]).toContain(refused.status);
      expect(refused.text).not.toContain('no"');
    }
    if (database !== 'mariadb') {
      const kept = await twins.put(path, { name: 'kept' });
      expect(kept.status).toBe(409);
      expect((await twins.get(path)).json.data.name).toBe('put');
    }
    await rows();
  });
});
