/** What classes of entities have beside columns: constructors, accessors, properties of the prototype, listeners. */
import { AfterLoad, Column, Entity, JoinColumn, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { StatementLog } from '../harness/statement-log.js';
import { type DataPath, startCrud } from './service.js';

@Entity()
class Owner {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  name!: string;
}

@Entity()
class Pet {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  name!: string;

  @ManyToOne(() => Owner, { lazy: true, nullable: true })
  owner!: Promise<Owner | null>;
}

@Entity()
class Person {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  name: string;

  @Column({ length: 20 })
  role: string = 'guest';

  constructor({ name }: { name: string }) {
    this.name = name;
  }
}

/** A computed column. On an entity without a title it fails. */
@Entity()
class Post {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  title!: string;

  @Column({ length: 20 })
  get slug(): string {
    return this.title.toLowerCase();
  }
  set slug(_: string) {
    // It follows from the title.
  }
}

const tagged: ClassDecorator = ({ prototype }) => {
  const { writable, ...fixed } = { value: 'tag', writable: true, enumerable: true, configurable: true };
  const members: PropertyDescriptorMap = {
    tag: { ...fixed, writable },
    shout: { ...fixed, value: () => 'shout' },
    label: { get: () => 'label', enumerable: true, configurable: true },
  };
  Object.defineProperties(prototype as object, members);
};

@tagged
@Entity()
class Tagged {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  name!: string;

  @Column({ length: 20, default: 'd' })
  other!: string;
}

@Entity()
class Filled {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  name!: string;

  @Column({ type: 'int', nullable: true })
  ownerId!: number | null;

  @ManyToOne(() => Owner, { nullable: true })
  @JoinColumn({ name: 'ownerId' })
  owner?: Partial<Owner> | null;

  @AfterLoad()
  fill(): void {
    this.owner = { name: 'someone' };
  }
}

@Entity()
class Prepared {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'int', nullable: true })
  ownerId!: number | null;

  @ManyToOne(() => Owner, { nullable: true })
  @JoinColumn({ name: 'ownerId' })
  owner?: Partial<Owner> = {};
}

describe.each(DATABASES)('on %s', (database) => {
  it('[4.6] [issue 11] starts and creates without loading a lazy relation', async () => {
    const logger = new StatementLog();
    const service = await startCrud('express', {
      database,
      entities: [Owner, Pet],
      resources: [{ entity: Pet, endpoint: '/pets' }],
      dataSource: { logger },
    });
    const created = await service.post('/pets', { name: 'Rex' });
    expect([created.status, created.json.data]).toEqual([201, { id: 1, name: 'Rex', ownerId: null }]);
    const reads = logger.statements.filter(
      ([sql]) => sql.startsWith('SELECT') && /owner/i.test(sql) && /JOIN/.test(sql),
    );
    expect(reads).toEqual([]);
    await service.close();
  });

  it.each<DataPath>(['compiled', 'repository'])(
    '[4.6] [issue 11] an entity whose constructor needs arguments starts, by %s',
    async (path) => {
      const service = await startCrud('express', {
        database,
        path,
        entities: [Person],
        resources: [{ entity: Person, endpoint: '/people' }],
        dataSource: { entitySkipConstructor: true },
      });
      const created = await service.post('/people', { name: 'Ann', role: 'guest' });
      expect([created.status, created.json.data]).toEqual([201, { id: 1, name: 'Ann', role: 'guest' }]);
      expect((await service.put('/people/1', { name: 'Bea', role: 'host' })).json.data).toMatchObject({ role: 'host' });
      expect((await service.get('/people')).json.data).toEqual([{ id: 1, name: 'Bea', role: 'host' }]);
      await service.close();
    },
  );

  it('[4.6] [issue 11] an accessor of a column that fails on a new entity starts', async () => {
    const service = await startCrud('express', {
      database,
      entities: [Post],
      resources: [{ entity: Post, endpoint: '/posts' }],
    });
    const created = await service.post('/posts', { title: 'Hello' });
    expect([created.status, created.json.data]).toEqual([201, { id: 1, title: 'Hello', slug: 'hello' }]);
    await service.close();
  });

  it('[4.6] [issue 11] writes through the repository leave out what the prototype has', async () => {
    const service = await startCrud('express', {
      database,
      path: 'repository',
      entities: [Tagged],
      resources: [{ entity: Tagged, endpoint: '/tagged', enableBatch: true }],
    });
    expect((await service.post('/tagged', { name: 'a' })).status).toBe(201);
    expect((await service.put('/tagged/1', { name: 'b', other: 'o' })).json.data).toEqual({
      id: 1,
      name: 'b',
      other: 'o',
    });
    expect((await service.send('PATCH', '/tagged/1', { json: { name: 'c' } })).json.data).toEqual({
      id: 1,
      name: 'c',
      other: 'o',
    });
    const items = [{ id: 1, name: 'd' }];
    expect((await service.send('PATCH', '/tagged/batch', { json: { items } })).status).toBe(200);
    await service.close();
  });

  it('[4.6] [issue 11] the value of a foreign key column wins over the object of its relation', async () => {
    const service = await startCrud('express', {
      database,
      entities: [Owner, Filled, Prepared],
      resources: [
        { entity: Filled, endpoint: '/filled' },
        { entity: Prepared, endpoint: '/prepared' },
      ],
    });
    const { id } = await service.dataSource.getRepository(Owner).save({ name: 'Ann' });
    const created = await service.post('/filled', { name: 'a', ownerId: id });
    expect([created.status, created.json.data.ownerId]).toEqual([201, id]);
    const read = (await service.get('/filled/1')).json.data;
    expect(read.ownerId).toBe(id);
    expect((await service.put('/filled/1', read)).json.data).toEqual(read);
    await service.send('PATCH', '/filled/1', { json: { name: 'b' } });
    const stored = () => service.dataSource.query('SELECT * FROM filled') as Promise<unknown>;
    expect(await stored()).toEqual([{ id: 1, name: 'b', ownerId: id }]);
    await service.put('/filled/1', { name: 'c', ownerId: null });
    expect(await stored()).toEqual([{ id: 1, name: 'c', ownerId: null }]);

    expect((await service.post('/prepared', { ownerId: id })).json.data).toEqual({ id: 1, ownerId: id });
    expect((await service.put('/prepared/1', { ownerId: id })).json.data).toEqual({ id: 1, ownerId: id });
    await service.close();
  });
});
