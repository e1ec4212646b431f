/** Columns that conditions compare only as equal, or not at all: by what the database can do with their type. */
import type { CrudOptions } from 'declarest';
import { Column, Entity, PrimaryGeneratedColumn, VirtualColumn, type ColumnOptions } from 'typeorm';
import { DATABASES, IS_MYSQL } from '../harness/databases.js';
import { entityOf } from './column-cases.js';
import { crudError, type CrudService, startCrud } from './service.js';

interface Opaque {
  name: string;
  column: ColumnOptions;
  /** Sent, and its other spelling that the database takes for the same. */
  value: string;
  same?: string;
  other: string;
}

const POSTGRES: readonly Opaque[] = [
  { name: 'citext', column: { type: 'citext' }, value: 'Ann', same: 'aNN', other: 'Bob' },
  { name: 'inet', column: { type: 'inet' }, value: '10.0.0.1', same: '10.0.0.1/32', other: '10.0.0.2' },
  { name: 'cidr', column: { type: 'cidr' }, value: '10.0.0.0/8', same: '10/8', other: '10.1.0.0/16' },
  {
    name: 'macaddr',
    column: { type: 'macaddr' },
    value: '08:00:2b:01:02:03',
    same: '08002b010203',
    other: '08:00:2b:01:02:04',
  },
  { name: 'ltree', column: { type: 'ltree' }, value: 'top.science', other: 'top' },
  { name: 'interval', column: { type: 'interval' }, value: '90 minutes', same: 'PT1H30M', other: '1 day' },
  { name: 'money', column: { type: 'money' }, value: '1234.50', same: '1234.5', other: '2' },
  { name: 'range', column: { type: 'int4range' }, value: '[1,5)', same: '(0,5)', other: '[1,6)' },
  { name: 'tsrange', column: { type: 'tsrange' }, value: '[2026-01-01,2026-02-01)', other: '[2026-01-01,2026-03-01)' },
  { name: 'bit', column: { type: 'bit', length: '3' }, value: '101', other: '111' },
  { name: 'varbit', column: { type: 'varbit' }, value: '1011', other: '1' },
  { name: 'hstore', column: { type: 'hstore', hstoreType: 'string' }, value: '"a"=>"1"', same: 'a=>1', other: 'a=>2' },
  { name: 'timetz', column: { type: 'timetz' }, value: '09:30:00+01', same: '09:30+01:00', other: '09:30:00+02' },
  { name: 'tsvector', column: { type: 'tsvector' }, value: "'a':1", other: "'b':1" },
];
const COLUMNS: Readonly<Partial<Record<(typeof DATABASES)[number], readonly Opaque[]>>> = {
  postgres: POSTGRES,
  // MySQL has no such type.
  ...(!IS_MYSQL && {
    mariadb: [{ name: 'inet6', column: { type: 'inet6' }, value: '::1', same: '0:0:0:0:0:0:0:1', other: '::2' }],
  }),
};

const CASES = DATABASES.flatMap((database) => (COLUMNS[database] ? [[database, COLUMNS[database]] as const] : []));

if (CASES.length > 0)
  describe.each(CASES)('values that only %s compares', (database, columns) => {
    const Opaque = entityOf(columns.map(({ name, column }) => ({ name, column: { ...column, nullable: true } })));
    let service: CrudService;
    beforeAll(async () => {
      service = await startCrud('express', {
        database,
        entities: [Opaque],
        resources: [{ entity: Opaque, endpoint: '/opaque', maxListSize: 5, filterableFields: true }],
      });
      for (const row of [Object.fromEntries(columns.map(({ name, value }) => [name, value])), {}])
        expect((await service.post('/opaque', row)).status).toBe(201);
    });
    afterAll(() => service.close());

    it('[4.6] are read, and taken back by PUT', async () => {
      const { json } = await service.get('/opaque/1');
      const again = await service.put('/opaque/1', json.data);
      expect([again.status, again.json.data]).toEqual([200, json.data]);
    });

    it.each(columns.map((each) => [each.name, each] as const))(
      '[7.1] %s is filtered by eq, ne, in, nin and isNull',
      async (name, { value, same = value, other }) => {
        const ids = async (operator: string, text: string): Promise<unknown> => {
          const query = `filter[${name}][${operator}]=${encodeURIComponent(text)}`;
          const { status, json } = await service.get(`/opaque?${query}`);
          return status === 200 ? json.data.map(({ id }: { id: number }) => id) : json;
        };
        const list = (...values: string[]) => values.map((each) => each.replaceAll(',', '\\,')).join(',');
        expect(await ids('eq', value)).toEqual([1]);
        expect(await ids('eq', same)).toEqual([1]);
        expect(await ids('eq', other)).toEqual([]);
        expect(await ids('ne', same)).toEqual([2]);
        expect(await ids('in', list(other, value))).toEqual([1]);
        expect(await ids('nin', list(other))).toEqual([1, 2]);
        expect(await ids('isNull', 'true')).toEqual([2]);
        expect(await ids('gt', value)).toMatchObject({ errors: [{ field: `filter[${name}][gt]` }] });
      },
    );

    it('[7.1] a value that the type does not have is 400 or matches nothing', async () => {
      const answers = await Promise.all(columns.map(({ name }) => service.get(`/opaque?filter[${name}]=%20%3F!`)));
      for (const { status, json } of answers)
        expect([status, json.data ?? []]).toEqual([status === 200 ? 200 : 400, []]);
    });
  });

@Entity()
class Item {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({
    type: 'varchar',
    length: 40,
    nullable: true,
    transformer: { to: (text: unknown) => lower(text), from: (text: unknown) => text },
  })
  code!: string;

  @Column({ type: 'decimal', precision: 10, scale: 2, nullable: true, transformer: { to: String, from: Number } })
  price!: number;

  @VirtualColumn({ query: (alias) => `SELECT ${alias}.id + 1`, type: 'int' })
  next!: number;

  @Column('simple-json')
  data!: object;
}

function lower(text: unknown): unknown {
  if (text === 'fails') throw new TypeError('no code');
  return typeof text === 'string' ? text.toLowerCase() : text;
}

describe.each(DATABASES)('columns that TypeORM computes on %s', (database) => {
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud('express', {
      database,
      entities: [Item],
      resources: [
        { entity: Item, endpoint: '/items', maxListSize: 5, filterableFields: true, sortableFields: ['price'] },
      ],
    });
    for (const [code, price] of [
      ['Ab', 1.5],
      ['cd', 12],
    ])
      await service.post('/items', { code, price, data: {} });
  });
  afterAll(() => service.close());

  const found = async (query: string): Promise<unknown> => {
    const { status, json } = await service.get(`/items?${query}`);
    return status === 200 ? json.data.map(({ id }: { id: number }) => id) : status;
  };

  it('[7.1] a transformed text is found by the value that was sent', async () => {
    expect(await found('filter[code]=Ab')).toEqual([1]);
    expect(await found('filter[code][in]=AB,x')).toEqual([1]);
    expect(await found('filter[code][ne]=AB')).toEqual([2]);
    expect(await found('filter[code][isNull]=true')).toEqual([]);
    expect(await found('filter[code]=fails')).toBe(400);
    for (const operator of ['contains', 'gt', 'icontains'])
      expect(await found(`filter[code][${operator}]=a`)).toBe(400);
  });

  it('[7.1] [7.2] a transformed number keeps its order', async () => {
    expect(await found('filter[price]=1.5')).toEqual([1]);
    expect(await found('filter[price][gt]=2')).toEqual([2]);
    expect(await found('sort=-price')).toEqual([2, 1]);
  });

  it('[7.1] a virtual column is read, and no condition compares it', async () => {
    expect((await service.get('/items/1')).json.data.next).toBe(2);
    expect(await found('filter[next]=2')).toBe(400);
  });

  it.each<[option: Partial<CrudOptions<Item>>, got: string]>([
    [{ filterableFields: ['next'] }, '"next", a virtual column, which is not filterable'],
    [{ sortableFields: ['next'] }, '"next", a virtual column, which is not sortable'],
    [{ enableSearch: true, searchableFields: ['next'] }, '"next", a virtual column, which is not searchable'],
    [{ aggregatableFields: ['next'] }, '"next", a virtual column, which is not aggregatable'],
    [{ filterableFields: ['data'] as never }, '"data", a simple-json column, which is not filterable'],
    [{ sortableFields: ['code'] }, '"code", a varchar column with a transformer, which is not sortable'],
  ])('[1] says why an option cannot name a column: %j', async (options, got) => {
    const resources = [{ entity: Item, endpoint: '/items', maxListSize: 5, ...options }];
    const error = await crudError('express', { database, entities: [Item], resources });
    expect(error.message).toContain(got);
  });
});
