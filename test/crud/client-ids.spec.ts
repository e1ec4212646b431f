/** The option `clientId`: keys that clients send where the database generates one, and what becomes of the generator. */
import { BeforeInsert, Column, Entity, ManyToOne, PrimaryGeneratedColumn, Tree, TreeParent } from 'typeorm';
import { DATABASES, type DatabaseName } from '../harness/databases.js';
import { startTwins, type Twins } from './twins.js';
import { startCrud, wrongFields } from './service.js';

@Entity()
class Part {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ default: 'none' })
  name!: string;
}

/** SQLite generates keys of the type INTEGER only, which has 64 bits. */
function wideOf(database: DatabaseName) {
  @Entity()
  class Wide {
    @PrimaryGeneratedColumn({ type: database === 'sqlite' ? 'integer' : 'bigint' })
    id!: string;

    @Column()
    name!: string;
  }
  return Wide;
}

@Entity()
class Heard {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  name!: string;

  @BeforeInsert()
  shout(): void {
    this.name = this.name.toUpperCase();
  }
}

@Entity()
class Joined {
  @PrimaryGeneratedColumn()
  id!: number;

  @ManyToOne(() => Part, { eager: true, nullable: true })
  part!: Part | null;
}

@Entity()
@Tree('materialized-path')
class Node {
  @PrimaryGeneratedColumn()
  id!: number;

  @TreeParent()
  parent!: Node | null;
}

function partsOf(database: DatabaseName) {
  const entities = [Part, wideOf(database), Heard, Joined, Node];
  const resources = entities.map((entity) => {
    return { entity, endpoint: `/${entity.name.toLowerCase()}`, clientId: true, enableBatch: true };
  });
  return { database, entities, resources };
}

describe.each(DATABASES)('keys that clients send for generated columns on %s', (database) => {
  let twins: Twins;
  beforeAll(async () => {
    twins = await startTwins(database === 'mariadb' ? 'fastify' : 'express', partsOf(database));
  });
  afterAll(() => twins.close());

  it.each([
    ['a key', '/part', { name: 'a' }],
    ['a key of 64 bits', '/wide', { name: 'a' }],
    ['a key of an entity with a listener', '/heard', { name: 'a' }],
    ['a key of an entity with an eager relation', '/joined', {}],
    ['a key of a tree', '/node', {}],
  ])('[4.6] stores %s as it was sent, and a second one is 409', async (_what, path, body) => {
    const { status, json, headers } = await twins.post(path, { ...body, id: 50 });
    expect([status, json.data.id, headers['location']]).toEqual([201, 50, `${path}/50`]);
    expect((await twins.get(`${path}/50`)).json.data).toEqual(json.data);
    const again = await twins.post(path, { ...body, id: 50 });
    expect([again.status, again.json.fields]).toEqual([409, { id: 'is already taken' }]);
    const batch = await twins.post(`${path}/batch`, {
      items: [
        { ...body, id: 61 },
        { ...body, id: 60 },
      ],
    });
    expect(batch.json.data.map(({ id }: { id: number }) => id)).toEqual([61, 60]);
  });

  it('[4.6] generates the keys that a batch leaves out, beside those that it sends', async () => {
    const { json } = await twins.post('/part/batch', { items: [{ id: 90 }, {}, { id: 80, name: 'b' }] });
    const [sent, made, other] = json.data as { id: number; name: string }[];
    expect([sent, made?.name, other]).toEqual([{ id: 90, name: 'none' }, 'none', { id: 80, name: 'b' }]);
    expect([80, 90]).not.toContain(made?.id);
  });

  it('[4.6] stores a key beyond 53 bits, whatever the sequence of another connection says', async () => {
    for (const service of [twins.compiled, twins.repository])
      await Promise.all(Array.from({ length: 8 }, () => service.post('/wide', { name: 'a' })));
    for (const id of ['9007199254740993', '9007199254740994', '9007199254740995', '9007199254740996'])
      expect((await twins.post('/wide', { id, name: 'b' })).json.data).toEqual({ id, name: 'b' });
  });

  it('[4.6] refers to a record by the key that was sent for it', async () => {
    await twins.post('/part', { id: 700 });
    expect((await twins.post('/joined', { id: 700, partId: 700 })).json.data).toEqual({ id: 700, partId: 700 });
  });
});

describe.each(DATABASES)('the greatest keys that clients send on %s', (database) => {
  it.each([
    ['/part', '2147483647'],
    ['/part', '2147483646'],
    ['/part', '-2147483648'],
    ['/part', '0'],
    ['/wide', '9223372036854775807'],
    ['/wide', '9223372036854775800'],
    ['/wide', '9007199254740991'],
    ['/wide', '-9223372036854775808'],
  ])('[4.6] %s takes new records after one with the key %s', async (endpoint, key) => {
    const service = await startCrud('express', partsOf(database));
    const id = Number.isSafeInteger(Number(key)) ? Number(key) : key;
    const sent = await service.post(endpoint, { id, name: 'a' });
    if (sent.status === 201) expect(sent.json.data.id).toBe(id);
    else expect(wrongFields(sent)).toEqual(['id']);
    for (const name of ['b', 'c', 'd'])
      expect([name, (await service.post(endpoint, { name })).status]).toEqual([name, 201]);
    await service.close();
  });

  it.runIf(database === 'postgres')('[4.6] skips a key that a client has taken, by one answer 409', async () => {
    const service = await startCrud('express', partsOf(database));
    await service.post('/part', { id: 1 });
    const answers = [await service.post('/part', {}), await service.post('/part', {})];
    expect(answers.map(({ status, json }) => [status, json.fields ?? json.data.id])).toEqual([
      [409, { id: 'is already taken' }],
      [201, 2],
    ]);
    await service.close();
  });

  it('[4.6] puts back a record with such a key, which another program made', async () => {
    const service = await startCrud('fastify', partsOf(database));
    await service.dataSource.query(`INSERT INTO part (id, name) VALUES (2147483647, 'a')`);
    const { data } = (await service.get('/part/2147483647')).json;
    expect((await service.put('/part/2147483647', data)).json.data).toEqual({ id: 2147483647, name: 'a' });
    expect((await service.post('/joined', { partId: 2147483647 })).status).toBe(201);
    await service.close();
  });
});
