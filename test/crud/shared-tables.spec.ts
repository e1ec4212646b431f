/** Classes that share a table (single-table inheritance): each resource shows and takes the columns of its class. */
import {
  ChildEntity,
  Column,
  Entity,
  ManyToOne,
  PrimaryGeneratedColumn,
  TableInheritance,
  UpdateDateColumn,
} from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { type CrudService, startCrud, wrongFields } from './service.js';

@Entity()
class Author {
  @PrimaryGeneratedColumn()
  id!: number;
}

class Place {
  @Column({ type: 'varchar', length: 20, nullable: true })
  city!: string | null;
}

@Entity()
@TableInheritance({ column: { type: 'varchar', name: 'kind', length: 20 } })
class Content {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  title!: string;

  @ManyToOne(() => Author, { nullable: true })
  owner!: Author | null;

  @UpdateDateColumn({ select: false })
  updated!: Date;
}

@ChildEntity()
class Photo extends Content {
  @Column({ length: 20 })
  size!: string;

  @ManyToOne(() => Author, { nullable: true })
  photographer!: Author | null;

  @Column(() => Place)
  place!: Place;
}

@ChildEntity()
class Panorama extends Photo {
  @Column({ type: 'int', nullable: true })
  angle!: number | null;
}

/** It has a column of the name and type that a sibling has. */
@ChildEntity()
class Essay extends Content {
  @Column({ length: 20 })
  size!: string;

  @ManyToOne(() => Author, { nullable: true })
  editor!: Author | null;
}

@Entity()
@TableInheritance({ column: 'type' })
class Vehicle {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  type!: string;
}

@ChildEntity('car')
class Car extends Vehicle {
  @Column({ type: 'int', nullable: true })
  doors!: number | null;
}

const CONTENT = ['id', 'title', 'ownerId'];
const PHOTO = ['id', 'title', 'size', 'place', 'ownerId', 'photographerId'];

describe.each(DATABASES)('on %s', (database) => {
  let service: CrudService;
  let author: number;
  beforeAll(async () => {
    const resource = (entity: typeof Content | typeof Vehicle) => ({
      entity,
      endpoint: `/${entity.name.toLowerCase()}`,
      enableBatch: true,
      filterableFields: true as const,
    });
    service = await startCrud('express', {
      database,
      entities: [Author, Content, Photo, Panorama, Essay, Vehicle, Car],
      resources: [Content, Photo, Panorama, Essay, Vehicle, Car].map(resource),
    });
    author = (await service.dataSource.getRepository(Author).save({})).id;
  });
  afterAll(() => service.close());

  const create = async (path: string, values: object): Promise<Record<string, unknown>> => {
    const { status, json, text } = await service.post(path, values);
    expect([status, text]).toEqual([201, text]);
    return json.data as Record<string, unknown>;
  };

  it.each<[path: string, names: string[], values: object]>([
    ['/content', CONTENT, { title: 't' }],
    ['/photo', PHOTO, { title: 't', size: 's', place: { city: 'Ulm' } }],
    ['/panorama', [...PHOTO, 'angle'], { title: 't', size: 's', angle: 180 }],
    ['/essay', ['id', 'title', 'size', 'ownerId', 'editorId'], { title: 't', size: 's' }],
  ])('[4.1] [issue 11] %s shows and takes the columns of its class', async (path, names, values) => {
    const references = names.filter((name) => name.endsWith('Id'));
    const sent = { ...values, ...Object.fromEntries(references.map((name) => [name, author])) };
    const created = await create(path, sent);
    expect(created).toMatchObject(sent);
    expect(Object.keys(created).toSorted()).toEqual(names.toSorted());
    const own = `${path}/${String(created['id'])}`;
    expect((await service.get(own)).json.data).toEqual(created);
    const replaced = await service.put(own, created);
    expect([replaced.status, replaced.json.data]).toEqual([200, created]);
    for (const other of ['size', 'place', 'photographerId', 'editorId', 'angle', 'kind']) {
      if (names.includes(other)) continue;
      expect(wrongFields(await service.post(path, { ...sent, [other]: author }))).toEqual([other]);
      expect((await service.get(`${path}?filter[${other}]=1`)).status).toBe(400);
    }
  });

  it('[4.6] [issue 11] a record of a child that is written through the parent keeps its other columns', async () => {
    const photo = await create('/photo', { title: 'p', size: 'big', photographerId: author, place: { city: 'Ulm' } });
    const path = `/content/${String(photo['id'])}`;
    const common = { id: photo['id'], title: 'p', ownerId: null };
    expect((await service.get(path)).json.data).toEqual(common);
    expect((await service.put(path, { title: 'q' })).json.data).toEqual({ ...common, title: 'q' });
    expect((await service.send('PATCH', path, { json: { ownerId: author } })).status).toBe(200);
    const items = [{ id: photo['id'], title: 'r' }];
    expect((await service.send('PATCH', '/content/batch', { json: { items } })).status).toBe(200);
    const kept = { ...photo, title: 'r', ownerId: author };
    expect((await service.get(`/photo/${String(photo['id'])}`)).json.data).toEqual(kept);
    expect((await service.del(path)).status).toBe(200);
  });

  it('[4.6] [issue 11] a new record of the parent is none of a child', async () => {
    const { id } = await create('/content', { title: 'c' });
    for (const path of ['/photo', '/panorama', '/essay'])
      expect((await service.get(`${path}/${String(id)}`)).status).toBe(404);
  });

  it('[4.6] [issue 11] a column that tells the classes apart is read, and set by the server', async () => {
    const car = await create('/car', { doors: 3 });
    expect(car).toEqual({ id: car['id'], type: 'car', doors: 3 });
    const path = `/vehicle/${String(car['id'])}`;
    expect((await service.get(path)).json.data).toEqual({ id: car['id'], type: 'car' });
    expect((await service.put(path, { type: 'car' })).status).toBe(200);
    expect(wrongFields(await service.put(path, { type: 'Vehicle' }))).toEqual(['type']);
    expect(wrongFields(await service.post('/car', { type: 'Vehicle' }))).toEqual(['type']);
    expect((await service.get('/vehicle?filter[type]=car')).json.data).toEqual([{ id: car['id'], type: 'car' }]);
    expect(await create('/vehicle', {})).toMatchObject({ type: 'Vehicle' });
    expect((await service.get(`/car/${String(car['id'])}`)).json.data).toEqual(car);
  });
});
