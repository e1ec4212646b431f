/** `declarest indexes` on a compiled application, without its database and with it. */
import { join } from 'node:path';
import { startChild } from '../../child-process.js';
import { type Compiled, compile } from '../../compiled.js';
import { createDatabase, DATABASES, type TestDatabase } from '../../harness/databases.js';

/** What `@Index()` of an entity takes. */
type Decorated = readonly [entity: string, name: string | undefined, properties: readonly string[]];

/** The variable INDEXES decorates entities. */
const APPLICATION = `
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CrudModule } from 'declarest';
import { Column, Entity, Index, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';

@Entity() class Shop {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 80 }) name!: string;
  @OneToMany(() => Offer, (offer) => offer.shop) offers!: Offer[];
}

@Entity() class Offer {
  @PrimaryGeneratedColumn() id!: number;
  @ManyToOne(() => Shop, (shop) => shop.offers, { createForeignKeyConstraints: false }) shop!: Shop;
}

@Index(['id', 'price'])
@Entity('items') class Item {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 80 }) title!: string;
  @Column() price!: number;
  @Column({ default: false }) isNew!: boolean;
  @Index() @Column() stock!: number;
  @Column({ length: 20, unique: true }) code!: string;
  @Column({ name: 'tenant' }) tenantId!: number;
  @Column() authorId!: number;
  @Column() placedAt!: Date;
  @Column() shopId!: number;
  @ManyToOne(() => Shop, { createForeignKeyConstraints: false }) shop!: Shop;
}

@Entity() class Note {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 80 }) text!: string;
}

const entities = { Shop, Offer, Item, Note };
for (const [entity, name, properties] of JSON.parse(process.env['INDEXES'] ?? '[]'))
  Index(...([name, properties].filter((each) => each !== null) as [string[]]))(entities[entity as 'Item']);
export const OPTIONS = {
  ...(process.env['FILE']
    ? { type: 'better-sqlite3', database: process.env['FILE'] }
    : { ...JSON.parse(process.env['DATABASE'] ?? ''), synchronize: false }),
  entities: Object.values(entities),
};

@Module({
  imports: [
    TypeOrmModule.forRoot(OPTIONS),
    CrudModule.forFeature(
      { entity: Shop, endpoint: '/shops', includableRelations: ['offers'], operations: ['findAll'] },
      {
        entity: Item,
        endpoint: '/items',
        enablePagination: true,
        filterableFields: ['price', 'isNew', 'stock', 'code', 'shop.name'],
        sortableFields: ['price', 'title'],
        defaultSort: '-placedAt',
        owner: { field: 'authorId', reads: true },
        scope: ({ user }: any) => user?.roles.includes('ADMIN') || { tenantId: user.tenantId, isNew: false },
      },
      { entity: Item, endpoint: '/shops/:shopId/items', defaultSort: 'placedAt', filterableFields: ['price'] },
      {
        entity: Note,
        endpoint: '/notes',
        enableSearch: true,
        searchableFields: ['text'],
        scope: ({ user }: any) => ({ text: user.profile.topic.name }),
      },
    ),
  ],
})
export class AppModule {}
`;

/** Runs statements, or else creates the tables and fills them; prints what TypeORM would change in the database. */
const SCHEMA = `
import { DataSource } from 'typeorm';
import { OPTIONS } from './shop.js';
const dataSource = await new DataSource(OPTIONS).initialize();
const statements = process.argv.slice(2);
for (const each of statements) await dataSource.query(each);
if (statements.length === 0) {
  await dataSource.synchronize();
  const items = Array.from({ length: 4_000 }, (_, place) => ({
    title: String(place), price: place, stock: place, code: String(place), tenantId: place % 50, authorId: place, shopId: place,
    placedAt: new Date(place * 1_000),
  }));
  for (let start = 0; start < items.length; start += 500) {
    const some = items.slice(start, start + 500);
    await dataSource.getRepository('Item').insert(some);
    await dataSource.getRepository('Shop').insert(some.map(({ title }) => ({ name: title })));
  }
  if (OPTIONS.type === 'postgres') await dataSource.query('ANALYZE');
}
const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
console.log(JSON.stringify(upQueries.map(({ query }) => query)));
await dataSource.destroy();
`;

let compiled: Compiled;
beforeAll(async () => {
  compiled = await compile(['lib/cli/declarest.ts'], { 'apps/shop.ts': APPLICATION, 'apps/schema.ts': SCHEMA });
});
afterAll(() => compiled.remove());

describe.each(DATABASES)('declarest indexes on %s', (name) => {
  const QUOTE = name === 'mariadb' ? '`' : '"';
  let database: TestDatabase;
  let printed: string;
  beforeAll(async () => {
    database = await createDatabase(name);
    // There are no tables yet.
    printed = await indexes();
    expect(await schema()).toEqual([]);
  });
  afterAll(() => database.drop());

  async function run(file: string, args: readonly string[], indexes: readonly Decorated[] = []): Promise<string> {
    const { options } = database;
    const env = {
      INDEXES: JSON.stringify(indexes),
      ...('database' in options ? { FILE: String(options.database) } : { DATABASE: JSON.stringify(options) }),
    };
    const all = [join(compiled.directory, `${file}.js`), ...args];
    const { code, stdout, stderr } = await startChild(process.execPath, all, { cwd: compiled.directory, env }).ended;
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    return stdout;
  }
  const indexes = (args: readonly string[] = [], declared?: readonly Decorated[]): Promise<string> =>
    run('lib/cli/declarest', ['indexes', 'apps/shop.js', ...args], declared);
  const schema = async (statements: readonly string[] = [], declared?: readonly Decorated[]): Promise<unknown> =>
    JSON.parse(await run('apps/schema', statements, declared));

  // TypeORM declares no descending index, and MariaDB does not use a part of one.
  const byTime = name === 'mariadb' ? [] : ['placedAt'];
  const MISSING: readonly (readonly [uses: string, entity: string, properties: readonly string[]])[] = [
    ['/items (owner)', 'Item', ['authorId', ...byTime]],
    ...(name === 'mariadb' ? [] : [['/items', 'Item', ['placedAt']] as const]),
    ['/items?filter[price], /items?sort=price', 'Item', ['price', 'id']],
    ['/items?filter[shop.name], /shops/:shopId/items', 'Item', ['shopId', 'placedAt', 'id']],
    ['/items (scope)', 'Item', ['tenantId', ...byTime]],
    ...(name === 'sqlite' ? [['/items?sort=title', 'Item', ['title', 'id']] as const] : []),
    ['/shops?include=offers', 'Offer', ['shop']],
    ['/items?filter[shop.name]', 'Shop', ['name']],
  ];
  const TABLES = new Map([
    ['Item', 'items'],
    ['Offer', 'offer'],
    ['Shop', 'shop'],
  ]);
  const COLUMNS = new Map([
    ['tenantId', 'tenant'],
    ['shop', 'shopId'],
  ]);
  /** Without names, which TypeORM checks in the last test. It gives those of one set of columns the same. */
  const blockOf = ([uses, entity, properties]: (typeof MISSING)[number], plan = ''): string => {
    const quoted = (each: string): string => QUOTE + each + QUOTE;
    const columns = properties.map((each) => quoted(COLUMNS.get(each) ?? each)).join(', ');
    const declared = `${properties[0] === 'price' ? `'IDX', ` : ''}[${properties.map((each) => `'${each}'`).join(', ')}]`;
    const statement = `CREATE INDEX ${quoted('IDX')} ON ${quoted(TABLES.get(entity) ?? '')} (${columns});`;
    return `-- ${uses}\n-- On ${entity}: @Index(${declared})\n${plan}${statement}\n`;
  };
  const NOTES = {
    sqlite: '-- /notes/search reads the whole table: set searchIndex, and `declarest schema` prints its index.\n',
    postgres:
      '-- /items?sort=title: no index has its order: title needs the collation "C".\n' +
      '-- /notes/search reads the whole table: set searchIndex, and `declarest schema` prints its index of pg_trgm.\n',
    mariadb:
      '-- /items: no index has its order: TypeORM declares no descending index.\n' +
      '-- /items?sort=title: no index has its order: MySQL and MariaDB sort the bytes of text.\n',
  };
  const END = `${NOTES[name]}-- /notes: the columns of its scope are not known.\n`;
  const withoutHashes = (text: string): string => text.replaceAll(/IDX_\w{26}/g, 'IDX');

  it('prints what requests need and the entities do not declare, without the database', () => {
    expect(withoutHashes(printed)).toBe([...MISSING.map((each) => blockOf(each)), END].join('\n'));
  });

  it('prints the plan before and after each statement', async () => {
    const stdout = withoutHashes(await indexes(['--database'])).replaceAll(/\b\d[\d.]* ms/g, 'N ms');
    const [price = ''] = stdout.split('\n\n').filter((block) => block.includes("['price', 'id']"));
    const plan = {
      sqlite:
        '-- Before: N ms, SCAN record, USE TEMP B-TREE FOR ORDER BY\n' +
        '-- After: N ms, SCAN record USING INDEX IDX\n',
      postgres:
        '-- Before: N ms, Seq Scan on items, Sort, Limit\n-- After: N ms, Index Scan using IDX on items, Limit\n',
      mariadb: '-- Before: N ms, record: ALL, no index, Using filesort\n',
    };
    const use = MISSING.find(([, , properties]) => properties[0] === 'price') as (typeof MISSING)[number];
    expect(`${price}\n`).toBe(blockOf(use, plan[name]));
    expect(stdout).toContain(`-- On Offer: @Index(['shop'])\n-- No record to measure with\n`);
    expect(stdout.match(/^-- After: N ms, .*\bIDX\b/gm) ?? []).toHaveLength(
      name === 'mariadb' ? 0 : MISSING.length - 1,
    );
  });

  it('prints statements whose indexes TypeORM keeps, where the entity has the decorator', async () => {
    const statements = printed.match(/^CREATE INDEX .*(?=;$)/gm) ?? [];
    expect(statements).toHaveLength(MISSING.length);
    const decorators = printed.matchAll(/^-- On (\w+): @Index\((?:'(\w+)', )?\[(.*)\]\)$/gm);
    const declared = [...decorators].map(([, entity = '', index, properties = '']): Decorated => [
      entity,
      index,
      properties.split(', ').map((each) => each.slice(1, -1)),
    ]);
    // The plan left no index behind, whose name would be taken.
    expect(await schema(statements, declared)).toEqual([]);
    const none = `-- No index is missing.\n\n${END}`;
    expect(await indexes([], declared)).toBe(none);
    // Those of the database count without a decorator.
    expect(await indexes(['--database'])).toBe(none);
  });
});
