/** Columns as other applications have them: every type, transformers, embedded objects, defaults, generated values. */
import {
  Column,
  CreateDateColumn,
  DeleteDateColumn,
  Entity,
  Generated,
  PrimaryGeneratedColumn,
  UpdateDateColumn,
  type ValueTransformer,
  VersionColumn,
  VirtualColumn,
} from 'typeorm';
import type { Type } from '@nestjs/common';
import { type DatabaseName, IS_MYSQL } from '../harness/databases.js';
import type { Model } from './model.js';

@Entity()
class Product {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 80 }) name!: string;
  @Column('decimal', { precision: 12, scale: 4 }) price!: string;
  @Column({ type: 'bigint', default: 0 }) stock!: string;
  @Column({ type: 'float', nullable: true }) weight!: number | null;
  @Column({ default: true }) active!: boolean;
  @Column({ type: 'smallint', unsigned: true, default: 0 }) rank!: number;
}

enum Status {
  OPEN = 'open',
  PAID = 'paid in full',
}

enum Level {
  LOW,
  HIGH = 5,
}

/** A name that SQL reserves, and columns of such names. */
@Entity('order')
class Order {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ name: 'group', length: 20 }) group!: string;
  @Column({ name: 'Select From', default: '' }) select!: string;
  @Column({ type: 'simple-enum', enum: Status, default: Status.OPEN }) status!: Status;
  @Column({ type: 'simple-enum', enum: Level, default: Level.LOW }) level!: Level;
  @Column({ name: 'PLACED_BY', type: 'varchar', nullable: true }) placedBy!: string | null;
}

@Entity({ name: 'blog_posts' })
class Document {
  @PrimaryGeneratedColumn() id!: number;
  @Column('text') title!: string;
  @Column('simple-json') meta!: object;
  @Column('simple-array', { nullable: true }) words!: string[] | null;
  // MySQL takes the default of a text as an expression only.
  @Column({ type: 'simple-json', default: IS_MYSQL ? () => "('{}')" : '{}' }) settings!: object;
  @Column({ type: 'varchar', length: 500, nullable: true, select: false }) secret!: string | null;
}

@Entity()
class Dated {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ type: 'date' }) day!: string;
  @Column({ type: 'time', nullable: true }) opens!: string | null;
  @Column({ nullable: true }) seen!: Date;
  @Column({ default: () => 'CURRENT_TIMESTAMP' }) published!: Date;
  @CreateDateColumn() createdAt!: Date;
  @UpdateDateColumn({ name: 'updated_at' }) updatedAt!: Date;
  @DeleteDateColumn() deletedAt!: Date | null;
  @VersionColumn() version!: number;
}

class Geo {
  @Column({ type: 'double precision', nullable: true }) latitude!: number;
  @Column({ type: 'double precision', nullable: true }) longitude!: number;
}

class Address {
  @Column({ length: 60 }) street!: string;
  @Column({ name: 'zip_code', type: 'varchar', length: 10, nullable: true }) zip!: string | null;
  @Column(() => Geo) geo!: Geo;
}

@Entity()
class Shop {
  @PrimaryGeneratedColumn() id!: number;
  @Column() name!: string;
  @Column(() => Address) address!: Address;
  @Column(() => Address, { prefix: 'billing_' }) billing!: Address;
  @Column(() => Geo, { prefix: false }) place!: Geo;
}

const toCents: ValueTransformer = {
  to: (value?: number | null) => (value == null ? value : Math.round(value * 100)),
  from: (value?: number | null) => (value == null ? value : value / 100),
};

/** As tutorials have it: without a thought for null. */
const asSet: ValueTransformer = {
  to: (value: string[]) => (value as string[] | undefined)?.join('|'),
  from: (value: string | null) => value?.split('|') ?? [],
};

@Entity()
class Fee {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 30 }) name!: string;
  @Column({ type: 'int', transformer: toCents }) amount!: number;
  @Column({ type: 'int', nullable: true, transformer: toCents }) limit!: number | null;
  @Column({ type: 'varchar', length: 100, transformer: [asSet] }) tags!: string[];
}

@Entity()
class Token {
  @PrimaryGeneratedColumn() id!: number;
  @Column() name!: string;
  @Column() @Generated('uuid') code!: string;
  @Column({ update: false }) fixed!: string;
  @Column({ insert: false, nullable: true }) later!: string;
}

@Entity()
class Basket {
  @PrimaryGeneratedColumn() id!: number;
  @Column() owner!: string;
  @VirtualColumn({ query: (alias) => `SELECT LENGTH(${alias}.owner)` }) letters!: number;
}

@Entity()
class Attachment {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 255 }) fileName!: string;
  @Column({ name: 'MIME', default: 'application/octet-stream' }) mimeType!: string;
  @Column({ type: 'int', default: 0 }) bytes!: number;
}

/** SQLite and the others have different names for the type. */
function profileOf(database: DatabaseName): Type {
  const type = database === 'sqlite' ? 'character' : 'char';
  @Entity()
  class Profile {
    @PrimaryGeneratedColumn() id!: number;
    @Column({ type, length: 10 }) initials!: string;
    @Column({ type: 'varchar', nullable: true }) motto!: string | null;
    @Column({ type: 'boolean', nullable: true }) isPublic!: boolean | null;
  }
  return Profile;
}

/** With a column that the database computes. */
function computedOf(database: DatabaseName): Type {
  @Entity()
  class Rectangle {
    @PrimaryGeneratedColumn() id!: number;
    @Column({ type: 'int' }) width!: number;
    @Column({ type: 'int' }) height!: number;
    @Column({
      type: 'int',
      asExpression: database === 'mariadb' ? '`width` * `height`' : '"width" * "height"',
      generatedType: 'STORED',
      nullable: true,
      insert: false,
      update: false,
    })
    area!: number;
  }
  return Rectangle;
}

const POSTGRES: readonly Model[] = (() => {
  @Entity()
  class PostgresTypes {
    @PrimaryGeneratedColumn('identity', { generatedIdentity: 'ALWAYS' }) id!: number;
    @Column('inet') address!: string;
    @Column('jsonb', { default: {} }) data!: object;
    @Column('uuid', { nullable: true }) reference!: string | null;
    @Column('timestamptz', { nullable: true }) at!: Date | null;
    @Column('money', { nullable: true }) price!: string | null;
    @Column('int4range', { nullable: true }) ages!: string | null;
    @Column({ type: 'bit varying', length: 8, nullable: true }) flags!: string | null;
    @Column('cidr', { nullable: true }) network!: string | null;
    @Column('macaddr', { nullable: true }) device!: string | null;
    @Column('real', { nullable: true }) ratio!: number | null;
  }

  @Entity('sales_leads')
  class Lead {
    @PrimaryGeneratedColumn('uuid') id!: string;
    @Column({ type: 'character varying' }) name!: string;
    @Column({ type: 'enum', enum: ['new', 'won, at last', "don't"], enumName: 'lead_state', default: 'new' })
    state!: string;
  }

  @Entity()
  class Arrays {
    @PrimaryGeneratedColumn() id!: number;
    @Column('text', { array: true, default: [] }) words!: string[];
    @Column('int', { array: true }) numbers!: number[];
    @Column('bigint', { array: true, nullable: true }) wide!: string[] | null;
    @Column('numeric', { array: true, nullable: true }) exact!: string[] | null;
    @Column('date', { array: true, nullable: true }) days!: string[] | null;
    @Column({ type: 'enum', enum: ['a,b', 'c"d', 'e'], array: true, default: [] }) kinds!: string[];
    @Column('jsonb', { array: true, nullable: true }) documents!: object[] | null;
    @Column('uuid', { array: true, nullable: true }) references!: string[] | null;
    @Column() name!: string;
  }

  return [
    {
      entity: PostgresTypes,
      records: () => [
        {
          address: '192.168.0.1',
          data: { a: [1, null] },
          reference: '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b',
          at: '2026-01-31T09:30:15.123Z',
          price: '$12.34',
          ages: '[1,10)',
          flags: '1010',
          network: '10.0.0.0/8',
          device: '08:00:2b:01:02:03',
          ratio: 0.5,
        },
        { address: '::1' },
      ],
      change: { data: { b: 1 }, ages: '[2,3)' },
      by: 'id',
      reads: { id: expect.any(Number) },
      queries: ['filter[address]=%3A%3A1', 'filter[ages]=%5B1,10)', 'filter[price][isNull]=true'],
      options: { filterableFields: true },
    },
    {
      entity: Lead,
      records: () => [
        { name: 'A', state: 'won, at last' },
        { name: 'B', state: "don't" },
      ],
      change: { state: "don't" },
      by: 'name',
      queries: ["filter[state]=don't"],
      options: { filterableFields: ['name', 'state'] },
    },
    {
      entity: Arrays,
      records: () => [
        {
          name: 'A',
          words: ['a,b', '"', '{}', ''],
          numbers: [1, -2],
          wide: ['9007199254740993'],
          exact: ['0.1000000000000000055511151231257827', '100'],
          days: ['2026-03-29', '0001-01-01'],
          kinds: ['a,b', 'c"d'],
          documents: [{ a: 1 }, ['x'], 'text'],
          references: ['0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'],
        },
        { name: 'B', numbers: [] },
      ],
      change: { kinds: ['e'], days: [] },
      by: 'name',
    },
  ];
})();

const MARIADB: readonly Model[] = (() => {
  @Entity({ engine: 'InnoDB', comment: 'types of MariaDB alone' })
  class MariaDbTypes {
    @PrimaryGeneratedColumn({ unsigned: true, type: 'int' }) id!: number;
    @Column('tinyint', { default: 0 }) flag!: number;
    @Column('bigint', { unsigned: true }) wide!: string;
    @Column('year', { nullable: true }) year!: number | null;
    @Column('mediumtext', { nullable: true }) body!: string | null;
    @Column({ type: 'set', enum: ['a', 'b'], nullable: true }) letters!: string[] | null;
    @Column('datetime', { precision: 6, nullable: true }) at!: Date | null;
    @Column('double', { nullable: true }) ratio!: number | null;
    @Column({ type: 'enum', enum: ['x', 'y'], default: 'x' }) kind!: string;
  }
  return [
    {
      entity: MariaDbTypes,
      records: () => [
        {
          flag: 1,
          wide: '18446744073709551615',
          year: 2026,
          body: 'A',
          letters: ['a', 'b'],
          at: '2026-01-31T09:30:15.123Z',
          ratio: 0.1,
          kind: 'y',
        },
        { wide: 0 },
      ],
      change: { letters: [] },
      by: 'wide',
    },
  ];
})();

export const columnsOf = (database: DatabaseName): readonly Model[] => [
  {
    entity: Product,
    records: () => [
      { name: 'Lamp', price: '12.3400', stock: '9007199254740993', weight: 0.5, active: false, rank: 3 },
      { name: 'Mouse', price: 5, weight: null },
    ],
    reads: { price: '12.3400' },
    change: { price: 7, active: true },
    by: 'name',
    queries: ['filter[price][lt]=100&filter[active]=false', 'filter[stock]=9007199254740993'],
    options: { filterableFields: true },
  },
  {
    entity: Order,
    records: () => [{ group: 'A', select: 'from', status: 'paid in full', level: 5, placedBy: null }, { group: 'B' }],
    change: { status: 'open', placedBy: 'Ann' },
    by: 'group',
    queries: ['filter[status]=open&filter[level]=0'],
    options: { filterableFields: true },
  },
  {
    entity: Document,
    records: () => [
      { title: 'A', meta: { a: { b: [1, null, 'x'] } }, words: ['a', 'b'], settings: { x: 1 } },
      { title: 'B', meta: [], settings: {} },
    ],
    change: { meta: { a: null, c: 1 }, words: null },
    by: 'title',
  },
  {
    entity: Dated,
    records: () => [
      { day: '2026-03-29', opens: '02:30:00', seen: '2026-03-29T02:30:00.000Z', published: '2026-01-01T00:00:00.000Z' },
      { day: '2026-10-25' },
    ],
    change: { day: '2026-03-01', opens: null },
    by: 'day',
    queries: ['filter[seen][gte]=2026-01-01&sort=-published'],
    options: { filterableFields: true, sortableFields: ['day', 'published'] },
  },
  {
    entity: Shop,
    records: () => [
      {
        name: 'A',
        address: { street: 'Ring 1', zip: '1010', geo: { latitude: 48.2, longitude: 16.37 } },
        billing: { street: 'Gasse 2', zip: null, geo: { latitude: null, longitude: null } },
        place: { latitude: 1, longitude: null },
      },
      { name: 'B', address: { street: 'Weg 3' }, billing: { street: 'Weg 3' } },
    ],
    change: { address: { zip: '1020' } },
    by: 'name',
    queries: ['filter[address.street]=Weg%203'],
    options: { filterableFields: ['name', 'address.street' as never] },
  },
  {
    entity: Fee,
    records: () => [
      { name: 'A', amount: 12.34, limit: null, tags: ['x', 'y'] },
      { name: 'B', amount: 1, tags: [] },
    ],
    change: { amount: 0.07, limit: 1 },
    by: 'name',
  },
  {
    entity: Token,
    records: () => [
      { name: 'A', fixed: 'x' },
      { name: 'B', fixed: 'y' },
    ],
    change: { later: 'z' },
    by: 'name',
  },
  {
    entity: Basket,
    records: () => [{ owner: 'Ann' }, { owner: 'Barbara' }],
    change: { owner: 'An' },
    by: 'owner',
    options: { filterableFields: true },
  },
  {
    entity: Attachment,
    records: () => [{ fileName: 'a.png', mimeType: 'image/png', bytes: 7 }, { fileName: 'b' }],
    change: { bytes: 8 },
    by: 'fileName',
  },
  {
    entity: profileOf(database),
    records: () => [
      { initials: 'AB', motto: 'x', isPublic: false },
      { initials: 'CD', isPublic: null },
    ],
    change: { initials: 'ABC' },
    by: 'initials',
  },
  {
    entity: computedOf(database),
    records: () => [
      { width: 2, height: 3 },
      { width: 4, height: 5 },
    ],
    change: { width: 3 },
    by: 'width',
    queries: ['filter[area]=6'],
    options: { filterableFields: true },
  },
  ...(database === 'postgres' ? POSTGRES : []),
  ...(database === 'mariadb' ? MARIADB : []),
];
