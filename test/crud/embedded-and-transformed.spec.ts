/** Entities with embedded columns and value transformers, on compiled statements as on the repository. */
import {
  Column,
  CreateDateColumn,
  Entity,
  ManyToOne,
  PrimaryGeneratedColumn,
  UpdateDateColumn,
  VersionColumn,
} from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { startTwins, type Twins } from './twins.js';

@Entity()
class Person {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({
    length: 30,
    unique: true,
    transformer: { to: (name: string) => `~${name}`, from: (name) => name.slice(1) },
  })
  name!: string;
}

class Position {
  @Column({ type: 'double precision', nullable: true })
  lat!: number | null;

  @Column({ type: 'int', nullable: true, default: 5 })
  zoom!: number | null;
}

class Address {
  @Column({ length: 30, default: 'Main street' })
  street!: string;

  @Column({ type: 'varchar', name: 'the_city', length: 30, nullable: true })
  city!: string | null;

  @Column(() => Position)
  position!: Position;
}

class History {
  @CreateDateColumn()
  created!: Date;

  @UpdateDateColumn()
  updated!: Date;

  @VersionColumn()
  version!: number;
}

const asList = {
  to: (list: readonly string[] | null | undefined) => list?.join(' '),
  from: (text: string | null) => (text === null ? [] : text.split(' ')),
};
const negated = { to: (value: string | null) => value && -value, from: (value: string | null) => value && `${-value}` };
const quoted = { to: (text: string) => text && `"${text}"`, from: (text: string) => text && text.slice(1, -1) };

@Entity()
class Parcel {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column(() => Address)
  to!: Address;

  @Column(() => Address, { prefix: 'sender' })
  from!: Address;

  @Column(() => History, { prefix: false })
  history!: History;

  @Column({ type: 'bigint', nullable: true, transformer: negated })
  weight!: string | null;

  @Column({ type: 'varchar', length: 40, nullable: true, transformer: [quoted, quoted] })
  label!: string | null;

  @Column({ type: 'simple-json', nullable: true, transformer: asList })
  marks!: string[];

  @ManyToOne(() => Person, { nullable: true })
  owner!: Person | null;
}

describe.each(DATABASES)('on %s', (database) => {
  let twins: Twins;
  beforeAll(async () => {
    twins = await startTwins('express', {
      database,
      entities: [Person, Parcel],
      resources: [
        { entity: Person, endpoint: '/people', enableSearch: true, searchableFields: ['id'] },
        {
          entity: Parcel,
          endpoint: '/parcels',
          enablePagination: true,
          enableBatch: true,
          enableCount: true,
          filterableFields: ['to.street', 'to.city', 'to.position.lat', 'owner.id'],
          sortableFields: ['from.street', 'to.position.zoom'],
          aggregatableFields: ['to.position.zoom'],
          includableRelations: ['owner'],
        },
      ],
    });
  });
  afterAll(() => twins.close());

  it('runs compiled statements', () => {
    expect(twins.compiled.logs.join('\n')).toMatch(/Parcel: read, create, update, delete compiled/);
    expect(twins.compiled.logs.join('\n')).toMatch(/Person: read, create, update, delete compiled/);
  });

  it('gives the answers of the repository', async () => {
    for (const name of ['Ann', 'Bob', 'Ann']) await twins.post('/people', { name });
    await twins.get('/people/search?id=1');
    const to = { street: 'High street', city: 'York', position: { lat: 1.5, zoom: 3 } };
    const bodies = [
      {},
      { to, from: { street: 'Low street' } },
      { to, weight: '12', label: 'a "b"', marks: ['x', 'y'], ownerId: 1 },
      { to: { ...to, city: null, position: {} }, weight: null, label: null, marks: ['z'], ownerId: 2 },
      { to: null },
      { to: { street: 5 }, weight: 'x' },
      { to: { position: { lat: 'x', height: 1 } } },
      { from: { street: 'x'.repeat(31) } },
      { history: { version: 7 } },
      { ownerId: 99 },
    ];
    for (const body of bodies) {
      const { json } = await twins.post('/parcels', body);
      if (json?.data) for (const change of bodies) await twins.put(`/parcels/${json.data.id}`, change);
    }
    for (const patch of [{ to: { city: 'Hull' } }, { from: { position: null } }, { marks: [] }, { label: '' }, {}])
      for (const id of [1, 2, 99]) {
        await twins.send('PATCH', `/parcels/${id}`, { json: patch });
        await twins.get(`/parcels/${id}?include=owner`);
      }
    await twins.post('/parcels/batch', { items: bodies.slice(0, 4) });
    const created = await twins.get('/parcels');
    expect(created.json.data).toHaveLength(8);
    expect(created.json.data[6]).toMatchObject({
      to,
      from: { street: 'Main street', city: null, position: { lat: null, zoom: 5 } },
      weight: '12',
      label: 'a "b"',
      marks: ['x', 'y'],
    });
    for (const query of [
      'filter[to.street]=High street&sort=from.street,-to.position.zoom',
      'filter[to.city][isNull]=true',
      'filter[to.position.lat][gt]=1',
      'fields=to.city,label',
      'filter[owner.id]=1',
      'after=&size=3&sort=-to.position.zoom',
      'fields=history,marks',
    ])
      await twins.get(`/parcels?${encodeURI(query)}`);
    await twins.get('/parcels/count?filter[to.city]=York');
    await twins.get('/parcels/aggregate?sum=to.position.zoom');
    for (const id of [1, 1]) await twins.del(`/parcels/${id}`);
  });

  it('reads NULL, and what no client wrote, as the repository does', async () => {
    const table = database === 'mariadb' ? '`parcel`' : '"parcel"';
    await twins.query(`UPDATE ${table} SET marks = NULL, label = NULL WHERE id = 2`);
    const { json } = await twins.get('/parcels/2');
    expect(json.data).toMatchObject({ marks: [], label: null });
    await twins.query(`UPDATE ${table} SET marks = '{' WHERE id = 2`);
    await twins.get('/parcels/2');
    await twins.get('/parcels');
  });
});
