/** A reference is checked in the same way, however the entity declares the column of its foreign key. */
import { CrudController, type CrudOptions, type ScopeContext } from 'declarest';
import { as, type TestUser } from 'declarest/testing';
import {
  Column,
  DeleteDateColumn,
  Entity,
  JoinColumn,
  ManyToOne,
  OneToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  RelationId,
} from 'typeorm';
import { authModule } from '../access/ruled-app.js';
import { DATABASES } from '../harness/databases.js';
import { type CrudService, startCrud } from './service.js';

@Entity()
class Station {
  @PrimaryGeneratedColumn() id!: number;
  @Column() team!: number;
  @DeleteDateColumn() deletedAt!: Date | null;
}

/** A key of two columns. */
@Entity()
class Dock {
  @PrimaryColumn({ length: 5 }) city!: string;
  @PrimaryColumn('int') no!: number;
  @Column() team!: number;
}

abstract class Bike {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20, nullable: true, type: 'varchar' }) name!: string | null;
}

@Entity()
class BesideColumn extends Bike {
  @ManyToOne(() => Station, { nullable: true }) station!: Station | null;
  @Column('int', { nullable: true }) stationId!: number | null;
}

@Entity()
class NamedColumn extends Bike {
  @Column('int', { name: 'home_station', nullable: true }) base!: number | null;
  @ManyToOne(() => Station, { nullable: true }) @JoinColumn({ name: 'home_station' }) station!: Station | null;
}

@Entity()
class WithRelationId extends Bike {
  @ManyToOne(() => Station, { nullable: true }) station!: Station | null;
  @RelationId((bike: WithRelationId) => bike.station) idOfStation!: number | null;
}

class Place {
  @ManyToOne(() => Station, { nullable: true }) @JoinColumn({ name: 'at' }) station!: Station | null;
  @Column('int', { name: 'at', nullable: true }) stationId!: number | null;
}

@Entity()
class InEmbedded extends Bike {
  @Column(() => Place, { prefix: 'place' }) place!: Place;
}

@Entity()
class OneToOneOwner extends Bike {
  @OneToOne(() => Station, { nullable: true }) @JoinColumn() station!: Station | null;
  @Column('int', { nullable: true }) stationId!: number | null;
}

/** TypeORM keeps one of the relations at the column. */
@Entity()
class SharedColumn extends Bike {
  @Column('int', { nullable: true }) stationId!: number | null;
  @ManyToOne(() => Station, { nullable: true }) @JoinColumn({ name: 'stationId' }) station!: Station | null;
  @ManyToOne(() => Note, { nullable: true, createForeignKeyConstraints: false })
  @JoinColumn({ name: 'stationId' })
  note!: Note | null;
}

@Entity()
class Note {
  @PrimaryGeneratedColumn() id!: number;
}

@Entity()
class OfDock extends Bike {
  @Column({ length: 5, nullable: true, type: 'varchar' }) city!: string | null;
  @Column('int', { nullable: true }) no!: number | null;
  @ManyToOne(() => Dock, { nullable: true })
  @JoinColumn([
    { name: 'city', referencedColumnName: 'city' },
    { name: 'no', referencedColumnName: 'no' },
  ])
  dock!: Dock | null;
}

/** The city of a new record is that of the database's default. */
@Entity()
class InDefaultCity extends Bike {
  @Column({ length: 5, default: 'A' }) city!: string;
  @Column('int', { nullable: true }) no!: number | null;
  @ManyToOne(() => Dock, { nullable: true })
  @JoinColumn([
    { name: 'city', referencedColumnName: 'city' },
    { name: 'no', referencedColumnName: 'no' },
  ])
  dock!: Dock | null;
}

/** The key of the record is that of the related one. */
@Entity()
class SharedKey {
  @PrimaryColumn('int') stationId!: number;
  @OneToOne(() => Station) @JoinColumn({ name: 'stationId' }) station!: Station;
  @Column({ length: 20, nullable: true, type: 'varchar' }) name!: string | null;
}

const user: TestUser = { sub: 1, roles: ['USER'] };
const [MINE, OTHERS, DELETED, MISSING] = [1, 2, 3, 99];

const ownTeam = ({ user: caller }: ScopeContext) => ({ team: Number(caller?.id ?? 0) });
const options = (entity: unknown, endpoint: string): CrudOptions<Bike> => ({
  entity: entity as typeof BesideColumn,
  endpoint,
  maxListSize: 100,
  enableBatch: true,
});
const parents = [
  CrudController({ entity: Station, endpoint: '/stations', maxListSize: 100, scope: ownTeam }),
  CrudController({ entity: Dock, endpoint: '/docks', maxListSize: 100, scope: ownTeam }),
];

interface Form {
  readonly entity: unknown;
  readonly body: (station: number) => object;
  /** The endpoint below a station, where there can be one. */
  readonly below?: readonly [endpoint: string, path: (station: number) => string];
}

const FORMS: readonly (readonly [string, Form])[] = [
  [
    'a declared column',
    {
      entity: BesideColumn,
      body: (id) => ({ stationId: id }),
      below: ['/stations/:stationId/bikes', (id) => `/stations/${id}/bikes`],
    },
  ],
  [
    'a column of another name',
    { entity: NamedColumn, body: (id) => ({ base: id }), below: ['/in/:base/bikes', (id) => `/in/${id}/bikes`] },
  ],
  [
    '@RelationId',
    {
      entity: WithRelationId,
      body: (id) => ({ stationId: id }),
      below: ['/stations/:stationId/bikes', (id) => `/stations/${id}/bikes`],
    },
  ],
  ['an embedded column', { entity: InEmbedded, body: (id) => ({ place: { stationId: id } }) }],
  [
    'a one-to-one relation',
    {
      entity: OneToOneOwner,
      body: (id) => ({ stationId: id }),
      below: ['/stations/:stationId/bikes', (id) => `/stations/${id}/bikes`],
    },
  ],
  [
    'a column of two relations',
    {
      entity: SharedColumn,
      body: (id) => ({ stationId: id }),
      below: ['/stations/:stationId/bikes', (id) => `/stations/${id}/bikes`],
    },
  ],
  [
    'two columns',
    {
      entity: OfDock,
      body: (no) => ({ city: 'A', no }),
      below: ['/cities/:city/docks/:no/bikes', (no) => `/cities/A/docks/${no}/bikes`],
    },
  ],
];

const running: CrudService[] = [];
afterEach(async () => {
  for (const service of running.splice(0)) await service.close();
});

const WHERE = DATABASES.flatMap((database) => [
  { database, platform: 'express', path: 'compiled' } as const,
  { database, platform: 'fastify', path: 'repository' } as const,
]);

describe.each(WHERE)('on $database and $platform, $path', ({ platform, ...parts }) => {
  async function start(resource: CrudOptions<Bike>) {
    const imports = [authModule({ defaultAccess: 'public' })];
    const service = await startCrud(platform, {
      entities: [Station, Dock, Note, resource.entity],
      resources: [resource, ...parents],
      imports,
      ...parts,
    });
    running.push(service);
    const { dataSource } = service;
    await dataSource
      .getRepository(Station)
      .insert([{ team: 1 }, { team: 2 }, { team: 1, deletedAt: new Date() }, { team: 1 }]);
    await dataSource.getRepository(Dock).insert([
      { city: 'A', no: 1, team: 1 },
      { city: 'A', no: 2, team: 2 },
      { city: 'A', no: 3, team: 2 },
      { city: 'A', no: 4, team: 1 },
      { city: 'B', no: 2, team: 1 },
    ]);
    await dataSource.getRepository(Note).insert([{}, {}, {}, {}]);
    return { dataSource, ...as(service.app, user) };
  }

  const bodyOf = ({ status, json }: { status: number; json: unknown }): unknown => {
    const { timestamp: _, ...body } = json as Record<string, unknown>;
    return { status, body };
  };

  it.each(FORMS)('[9.1] a hidden reference by %s is refused as a missing one', async (_, { entity, body }) => {
    const { post, put, patch } = await start(options(entity, '/bikes'));
    expect(await post('/bikes', body(MINE))).toMatchObject({ status: 201 });
    for (const send of [
      (id: number) => post('/bikes', body(id)),
      (id: number) => put('/bikes/1', { name: null, ...body(id) }),
      (id: number) => patch('/bikes/1', body(id)),
      (id: number) => post('/bikes/batch', { items: [{ name: 'x' }, body(id)] }),
      (id: number) => patch('/bikes/batch', { items: [{ id: 1, ...body(id) }] }),
    ]) {
      const missing = bodyOf(await send(MISSING));
      expect(missing).toMatchObject({ status: 409 });
      for (const id of [OTHERS, DELETED]) expect(bodyOf(await send(id))).toEqual(missing);
    }
    expect(await patch('/bikes/1', body(4))).toMatchObject({ status: 200 });
  });

  it.each(FORMS.filter(([, { below }]) => below))(
    '[8.7] an endpoint below a hidden parent by %s answers as below a missing one',
    async (_, { entity, below = ['', String] }) => {
      const [endpoint, path] = below;
      const { dataSource, get, post, patch, delete: del } = await start(options(entity, endpoint));
      const first = { name: 'hidden', ...(endpoint === '/in/:base/bikes' ? { base: OTHERS } : {}) };
      const repository = dataSource.getRepository(entity as typeof BesideColumn);
      const reference = entity === OfDock ? { city: 'A', no: OTHERS } : { station: { id: OTHERS } };
      const { identifiers } = await repository.insert({ ...first, ...reference });
      const id = Number(identifiers[0]?.['id']);
      for (const request of [
        (parent: number) => get(path(parent)),
        (parent: number) => get(`${path(parent)}/${id}`),
        (parent: number) => patch(`${path(parent)}/${id}`, { name: 'x' }),
        (parent: number) => del(`${path(parent)}/${id}`),
        (parent: number) => post(path(parent), { name: 'x' }),
        (parent: number) => post(`${path(parent)}/batch`, { items: [{ name: 'x' }] }),
      ]) {
        const missing = bodyOf(await request(MISSING));
        for (const parent of [OTHERS, DELETED]) expect(bodyOf(await request(parent))).toEqual(missing);
      }
      expect(await repository.find({ select: { name: true } })).toEqual([{ name: 'hidden' }]);
      expect(await post(path(MINE), { name: 'x' })).toMatchObject({ status: 201 });
      expect(await get(path(MINE))).toMatchObject({ json: { data: [{ name: 'x' }] } });
    },
  );

  it('[9.1] a change of one of two columns must not lead to a hidden record', async () => {
    const { post, patch } = await start(options(OfDock, '/bikes'));
    await post('/bikes', { city: 'B', no: 2 });
    const refused = { status: 409, json: { fields: { city: 'refers to a record that does not exist' } } };
    // Another team's dock 2 of A.
    expect(await patch('/bikes/1', { city: 'A' })).toMatchObject(refused);
    expect(await patch('/bikes/batch', { items: [{ id: 1, city: 'A' }] })).toMatchObject(refused);
    expect(await patch('/bikes/1', { no: 77 })).toMatchObject(refused);
    expect(await patch('/bikes/1', { city: 'A', no: 4 })).toMatchObject({ status: 200 });
    expect(await patch('/bikes/1', { no: 2 })).toMatchObject(refused);
    expect(await patch('/bikes/1', { no: null })).toMatchObject({ status: 200 });
  });

  it('[9.1] parallel changes of two columns never lead to a hidden record', async () => {
    const { dataSource, post, patch } = await start(options(OfDock, '/bikes'));
    await dataSource.getRepository(Dock).insert({ city: 'B', no: 1, team: 1 });
    for (let round = 1; round <= 10; round += 1) {
      await post('/bikes', { city: 'B', no: 1 });
      await Promise.all([patch(`/bikes/${round}`, { city: 'A' }), patch(`/bikes/${round}`, { no: 2 })]);
    }
    const stored = await dataSource.getRepository(OfDock).find({ select: { city: true, no: true } });
    expect(stored).toHaveLength(10);
    expect(stored).not.toContainEqual({ city: 'A', no: 2 });
  });

  it('[9.1] the default of a column takes part in a reference of two columns', async () => {
    const { post } = await start(options(InDefaultCity, '/bikes'));
    const [hidden, missing] = [await post('/bikes', { no: OTHERS }), await post('/bikes', { no: MISSING })];
    expect(hidden).toMatchObject({ status: 409 });
    expect(bodyOf(hidden)).toEqual(bodyOf(missing));
    expect(await post('/bikes', { no: MINE })).toMatchObject({ status: 201 });
  });

  it('[9.1] a key that refers to a hidden record is refused as one that refers to a missing record', async () => {
    const { post } = await start(options(SharedKey, '/bikes'));
    const [hidden, missing] = [
      await post('/bikes', { stationId: OTHERS }),
      await post('/bikes', { stationId: MISSING }),
    ];
    expect(hidden).toMatchObject({ status: 409 });
    expect(bodyOf(hidden)).toEqual(bodyOf(missing));
    expect(await post('/bikes', { stationId: MINE })).toMatchObject({ status: 201 });
  });

  it('[9.1] an unchanged hidden reference is accepted, as GET returned it', async () => {
    for (const [entity, reference] of [
      [BesideColumn, { stationId: OTHERS }],
      [OfDock, { city: 'A', no: OTHERS }],
    ] as const) {
      const { dataSource, get, put, patch } = await start(options(entity, '/bikes'));
      await dataSource.getRepository<object>(entity).insert(reference);
      const { data } = (await get('/bikes/1')).json as { data: object };
      expect(await put('/bikes/1', { ...data, name: 'x' })).toMatchObject({ status: 200 });
      expect(await patch('/bikes/1', { ...reference, name: 'y' })).toMatchObject({ status: 200 });
    }
  });

  it('[7.4] includes and filters through a declared column show what the caller sees', async () => {
    const resource: CrudOptions<BesideColumn> = {
      ...options(BesideColumn, '/bikes'),
      entity: BesideColumn,
      includableRelations: ['station'],
      filterableFields: ['station.team', 'stationId'],
      scope: ({ user: caller }) => (caller?.roles.includes('ONE') ? { station: 1 as never } : true),
    };
    const { dataSource, get } = await start(resource as never);
    await dataSource.getRepository(BesideColumn).insert([{ stationId: OTHERS }, { stationId: MINE }]);
    expect(await get('/bikes?include=station')).toMatchObject({
      json: { data: [{ station: null }, { station: { id: MINE } }] },
    });
    expect(await get('/bikes?filter[station.team]=2')).toMatchObject({ json: { data: [] } });
    const { get: asOne } = as(running.at(-1)?.app as never, { sub: 1, roles: ['ONE'] });
    expect(await asOne('/bikes')).toMatchObject({ status: 200, json: { data: [{ stationId: MINE }] } });
  });
});
