/** Entities of unusual shapes, as applications have them. */
import {
  Column,
  Entity,
  Generated,
  Index,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  PrimaryGeneratedColumn,
  TableInheritance,
  ChildEntity,
  VirtualColumn,
  type ColumnOptions,
} from 'typeorm';
import type { Type } from '@nestjs/common';
import { type DatabaseName, DATABASES, IS_MYSQL } from '../harness/databases.js';
import { ONE_PLATFORM } from '../harness/platforms.js';
import { type CrudService, startCrud, wrongFields } from './service.js';

/** MySQL takes the default of a `text` as an expression only. */
const ofText = (value: string) => (IS_MYSQL ? () => `('${value}')` : value);

/** [column, what a client reads of the default] */
function defaultsOf(database: DatabaseName): Record<string, [ColumnOptions, unknown]> {
  const dateTime = database === 'postgres' ? 'timestamp' : 'datetime';
  return {
    zero: [{ type: 'int', default: 0 }, 0],
    negative: [{ type: 'int', default: -5 }, -5],
    big: [{ type: 'bigint', default: '9007199254740993' }, '9007199254740993'],
    // As a text: TypeORM rounds the number on MariaDB.
    fraction: [{ type: database === 'postgres' ? 'double precision' : 'double', default: '0.5' }, 0.5],
    empty: [{ type: 'varchar', length: 10, default: '' }, ''],
    no: [{ type: 'boolean', default: false }, false],
    yes: [{ type: 'boolean', default: true }, true],
    day: [{ type: 'date', default: '2026-01-31' }, '2026-01-31'],
    hour: [{ type: 'time', default: '09:30:00' }, '09:30:00'],
    choice: [{ type: 'simple-enum', enum: ['a', 'b'], default: 'b' }, 'b'],
    computed: [{ type: 'int', default: () => '(1 + 2)' }, 3],
    nullable: [{ type: 'varchar', length: 10, nullable: true, default: 'x' }, 'x'],
    nothing: [{ type: 'varchar', length: 10, nullable: true, default: null }, null],
    moment: [{ type: dateTime, default: () => "'2026-01-31 09:30:00'" }, expect.any(String)],
    // The text of a date-time, which a driver would read otherwise than the database.
    momentText: [{ type: dateTime, default: '2026-01-31 09:30:00' }, expect.any(String)],
    words: [{ type: 'simple-array', default: ofText('a,b') }, ['a', 'b']],
    json: [{ type: 'simple-json', default: ofText('{"a":1}') }, { a: 1 }],
  };
}

class Point {
  @Column({ default: 1 })
  x!: number;

  @Column({ type: 'int', nullable: true, select: false })
  hiddenY!: number | null;
}
class Frame {
  @Column(() => Point)
  corner!: Point;

  @Column(() => Point, { prefix: 'far' })
  opposite!: Point;
}

@Entity()
class Nested {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column(() => Frame)
  frame!: Frame;
}

@Entity({ name: 'order' })
class Order {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  group!: string;

  @Column({ name: 'select', length: 20 })
  from!: string;

  @Column({ default: 1 })
  index!: number;

  @Column({ length: 20, default: 'd' })
  data!: string;

  @Column({ length: 20, default: 'v' })
  values!: string;
}

@Entity()
class Coded {
  @PrimaryGeneratedColumn()
  id!: number;

  @Index({ unique: true })
  @Column({ length: 10 })
  code!: string;

  @Column()
  @Generated('uuid')
  ticket!: string;
}

@Entity()
class Refers {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 10 })
  name!: string;

  @ManyToOne(() => Coded, { nullable: true })
  @JoinColumn({ referencedColumnName: 'code' })
  coded!: Coded | null;

  @ManyToMany(() => Coded)
  @JoinTable()
  many!: Coded[];
}

@Entity()
class Lazy {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 10 })
  name!: string;

  @ManyToOne(() => Coded, { nullable: true, lazy: true })
  coded!: Promise<Coded | null>;
}

@Entity()
class Cascading {
  @PrimaryGeneratedColumn()
  id!: number;

  @ManyToOne(() => Coded, { nullable: true, onDelete: 'CASCADE' })
  coded!: Coded | null;
}

@Entity()
class Loosening {
  @PrimaryGeneratedColumn()
  id!: number;

  @ManyToOne(() => Coded, { nullable: true, onDelete: 'SET NULL' })
  coded!: Coded | null;
}

@Entity()
@TableInheritance({ column: { type: 'varchar', name: 'kind', length: 20 } })
class Content {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  title!: string;
}

@ChildEntity()
class Photo extends Content {
  @Column({ type: 'varchar', length: 20, nullable: true })
  size!: string | null;
}

@ChildEntity()
class Essay extends Content {
  @Column({ type: 'int', nullable: true })
  words!: number | null;
}

@Entity()
class Album {
  @PrimaryGeneratedColumn()
  id!: number;

  @ManyToOne(() => Photo, { nullable: true })
  cover!: Photo | null;

  @ManyToMany(() => Photo)
  @JoinTable()
  photos!: Photo[];
}

@Entity()
class OnlyId {
  @PrimaryGeneratedColumn()
  id!: number;
}

describe.each(DATABASES)('records of a class that shares its table, on %s', (database) => {
  let service: CrudService;
  let [photo, essay]: number[] = [];

  beforeAll(async () => {
    service = await startCrud('express', {
      database,
      entities: [Content, Photo, Essay, Album],
      resources: [
        {
          entity: Album,
          endpoint: '/albums',
          filterableFields: ['cover.title', 'photos.title'],
          includableRelations: ['cover', 'photos'],
          linkableRelations: ['photos'],
        },
      ],
    });
    const insert = async (entity: typeof Photo | typeof Essay): Promise<number> =>
      (await service.dataSource.getRepository<Content>(entity).save({ title: 'same' })).id;
    photo = await insert(Photo);
    essay = await insert(Essay);
  });
  afterAll(() => service.close());

  it('[4.6] [8.3] references and links to a record of another class are 409', async () => {
    expect((await service.post('/albums', { coverId: essay })).status).toBe(409);
    expect((await service.post('/albums', { photosIds: [essay] })).status).toBe(409);
    expect((await service.post('/albums', { coverId: photo, photosIds: [photo] })).status).toBe(201);
  });

  it('[7.1] filters and includes through a relation see no record of another class', async () => {
    const albums = service.dataSource.getRepository(Album);
    const { id } = await albums.save({ cover: { id: essay! }, photos: [{ id: essay! }] });
    for (const name of ['cover.title', 'photos.title']) {
      const found = (await service.get(`/albums?filter[${name}]=same`)).json.data as { id: number }[];
      expect(found.map((each) => each.id)).not.toContain(id);
    }
    const { data } = (await service.get(`/albums/${id}?include=cover,photos`)).json;
    expect(data).toMatchObject({ cover: null, photos: [] });
  });
});

describe.each(DATABASES)('on %s', (database) => {
  const defaults = defaultsOf(database);
  class Defaults {
    id!: number;
  }
  PrimaryGeneratedColumn()(Defaults.prototype, 'id');
  for (const [name, [options]] of Object.entries(defaults)) Column(options)(Defaults.prototype, name);
  Entity()(Defaults);

  const quote = database === 'mariadb' ? '`' : '"';
  @Entity()
  class Counted {
    @PrimaryGeneratedColumn()
    id!: number;

    @Column({ length: 10 })
    name!: string;

    @VirtualColumn({ query: (alias) => `SELECT ${alias}.${quote}id${quote} + 100` })
    more!: number;
  }

  const entities: Type[] = [
    Defaults,
    Nested,
    Order,
    Coded,
    Refers,
    Lazy,
    Cascading,
    Loosening,
    Content,
    Photo,
    Essay,
    OnlyId,
    Counted,
  ];

  describe.each(ONE_PLATFORM)('and %s', (platform) => {
    let service: CrudService;
    beforeAll(async () => {
      service = await startCrud(platform, {
        database,
        entities,
        resources: entities.map((entity) => ({
          entity,
          endpoint: `/api/${entity.name.toLowerCase()}`,
          enablePagination: true,
          ...(entity === Order && { enableSearch: true, searchableFields: ['group', 'from', 'index'] }),
        })),
      });
    });
    afterAll(() => service.close());

    it.each(Object.keys(defaults))(
      '[4.6] a default is the same for a POST and a PUT that leave %s out',
      async (name) => {
        const created = await service.post('/api/defaults', {});
        expect([created.status, created.json.data?.[name]]).toEqual([201, defaults[name]?.[1]]);
        const path = created.headers['location'] ?? '';
        const updated = await service.put(path, {});
        expect([updated.status, updated.json.data?.[name]]).toEqual([200, created.json.data[name]]);
        expect((await service.get(path)).json.data).toEqual(created.json.data);
        expect((await service.put(path, created.json.data)).json.data).toEqual(created.json.data);
      },
    );

    it('[4.6] objects within embedded objects are read, written, and named by their path', async () => {
      const created = await service.post('/api/nested', {
        frame: { corner: { x: 5, hiddenY: 9 }, opposite: { x: 6 } },
      });
      expect([created.status, created.json.data.frame]).toEqual([201, { corner: { x: 5 }, opposite: { x: 6 } }]);
      const path = created.headers['location'] ?? '';
      expect((await service.put(path, { frame: { corner: { x: 7 } } })).json.data.frame).toEqual({
        corner: { x: 7 },
        opposite: { x: 1 },
      });
      const { frame } = (await service.dataSource
        .getRepository(Nested)
        .createQueryBuilder('n')
        .addSelect('n.frame.corner.hiddenY')
        .where({ id: created.json.data.id })
        .getOneOrFail()) as Nested;
      expect(frame.corner.hiddenY).toBe(9);
      expect(wrongFields(await service.put(path, { frame: { corner: { x: 'a', z: 1 }, opposite: 5 } }))).toEqual([
        'frame.corner.x',
        'frame.corner.z',
        'frame.opposite',
      ]);
    });

    it('[4.6] a generated column that is no key may not be given, and is kept', async () => {
      const created = await service.post('/api/coded', { code: `t${database}` });
      const { ticket } = created.json.data;
      expect(ticket).toMatch(/^[0-9a-f-]{36}$/);
      const path = created.headers['location'] ?? '';
      expect(wrongFields(await service.post('/api/coded', { code: 'u', ticket }))).toEqual(['ticket']);
      expect((await service.put(path, { code: `t${database}` })).json.data.ticket).toBe(ticket);
      expect((await service.put(path, { code: `t${database}`, ticket })).status).toBe(200);
      expect(wrongFields(await service.put(path, { code: 'x', ticket: ticket.replace(/^./, '_') }))).toEqual([
        'ticket',
      ]);
    });

    it('[4.6] a relation to another column than the key holds the value of that column', async () => {
      await service.post('/api/coded', { code: 'abc' });
      const created = await service.post('/api/refers', { name: 'a', codedId: 'abc' });
      expect([created.status, created.json.data.codedId]).toEqual([201, 'abc']);
      const path = created.headers['location'] ?? '';
      expect((await service.put(path, created.json.data)).json.data).toEqual(created.json.data);
      expect(wrongFields(await service.post('/api/refers', { name: 'a', codedId: 5 }))).toEqual(['codedId']);
      expect((await service.post('/api/refers', { name: 'a', codedId: 'zzz' })).status).toBe(409);
    });

    it('[4.6] a lazy relation is read and written like another', async () => {
      const { id } = (await service.post('/api/coded', { code: 'lazy' })).json.data as { id: number };
      const created = await service.post('/api/lazy', { name: 'l', codedId: id });
      expect([created.status, created.json.data.codedId]).toEqual([201, id]);
      const path = created.headers['location'] ?? '';
      expect((await service.put(path, { name: 'l' })).json.data.codedId).toBeNull();
      expect((await service.put(path, { name: 'l', codedId: id })).json.data.codedId).toBe(id);
      expect((await service.put(path, { name: 'l', codedId: null })).json.data.codedId).toBeNull();
    });

    it('[4.3] a deletion that the database passes on is 200', async () => {
      const { id } = (await service.post('/api/coded', { code: 'casc' })).json.data as { id: number };
      const child = (await service.post('/api/cascading', { codedId: id })).headers['location'] ?? '';
      const loose = (await service.post('/api/loosening', { codedId: id })).headers['location'] ?? '';
      expect((await service.del(`/api/coded/${id}`)).status).toBe(200);
      expect((await service.get(child)).status).toBe(404);
      expect((await service.get(loose)).json.data.codedId).toBeNull();
    });

    it('[4.1] of a table with several kinds each resource has its own', async () => {
      const photo = (await service.post('/api/photo', { title: 'p', size: 'big' })).json.data as { id: number };
      const essay = (await service.post('/api/essay', { title: 'e', words: 5 })).json.data as { id: number };
      expect(photo).toEqual({ id: photo.id, title: 'p', size: 'big' });
      expect((await service.get('/api/photo')).json.data).toEqual([photo]);
      expect((await service.get(`/api/photo/${essay.id}`)).status).toBe(404);
      expect((await service.put(`/api/photo/${essay.id}`, { title: 'x' })).status).toBe(404);
      expect((await service.del(`/api/photo/${essay.id}`)).status).toBe(404);
      expect((await service.get(`/api/essay/${essay.id}`)).json.data).toEqual(essay);
      expect((await service.get('/api/content')).json.metadata.pagination.total).toBe(2);
      expect((await service.put(`/api/photo/${photo.id}`, { title: 'q' })).json.data).toEqual({
        ...photo,
        title: 'q',
        size: null,
      });
      expect(wrongFields(await service.post('/api/photo', { title: 'p', kind: 'Essay' }))).toEqual(['kind']);
    });

    it('[4.1] an entity that has nothing but its id can be created, put and deleted', async () => {
      const created = await service.post('/api/onlyid', {});
      expect([created.status, created.json.data]).toEqual([201, { id: 1 }]);
      expect((await service.put('/api/onlyid/1', {})).json.data).toEqual({ id: 1 });
      expect((await service.put('/api/onlyid/2', {})).status).toBe(404);
      expect((await service.del('/api/onlyid/1')).status).toBe(200);
    });

    it('[4.6] a virtual column is read, never written', async () => {
      const created = await service.post('/api/counted', { name: 'a' });
      const { id } = created.json.data as { id: number };
      expect([created.status, created.json.data]).toEqual([201, { id, name: 'a', more: id + 100 }]);
      expect((await service.get('/api/counted')).json.data).toEqual([{ id, name: 'a', more: id + 100 }]);
      expect((await service.put(`/api/counted/${id}`, { id, name: 'b', more: id + 100 })).status).toBe(200);
      expect(wrongFields(await service.post('/api/counted', { name: 'a', more: 1 }))).toEqual(['more']);
      expect(wrongFields(await service.put(`/api/counted/${id}`, { name: 'a', more: 1 }))).toEqual(['more']);
    });
  });
});
