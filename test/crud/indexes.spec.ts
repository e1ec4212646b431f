/** The indexes that docs/tasks/lists.md and docs/learn/who-sees-what.md recommend, in front of TypeORM's schema builder. */
import { readdirSync, readFileSync } from 'node:fs';
import { CrudModule } from 'declarest';
import { Column, DataSource, DeleteDateColumn, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';
import { createDatabase, type DatabaseName, DATABASES, type TestDatabase } from '../harness/databases.js';
import { startApp } from '../harness/platforms.js';
import { TypeOrmModule } from '@nestjs/typeorm';

const DOCS = new URL('../../docs/', import.meta.url);
const PAGE = readFileSync(new URL('tasks/lists.md', DOCS), 'utf8');
/** The statement that the page shows. */
const [DOWN = ''] = /^CREATE INDEX product_price_down .*(?=;$)/m.exec(PAGE) ?? [];

@Entity()
@Index('product_price', ['price', 'id'])
@Index('product_price_down', { synchronize: false })
class Product {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 30 })
  name!: string;

  @Column()
  price!: number;
}

/** PostgreSQL and SQLite have indexes of some rows. */
@Entity()
class Account {
  @PrimaryGeneratedColumn()
  id!: number;

  @Index('account_email', { unique: true, where: '"deletedAt" IS NULL' })
  @Column({ length: 30 })
  email!: string;

  @DeleteDateColumn()
  deletedAt!: Date | null;
}

const entitiesOn = (database: DatabaseName) => (database === 'mariadb' ? [Product] : [Product, Account]);

/** The names of the indexes, with those of other objects that belong to an index. */
async function indexesOf(dataSource: DataSource): Promise<string[]> {
  const statements: Record<string, string> = {
    'better-sqlite3': `SELECT name FROM sqlite_master WHERE type IN ('index', 'trigger') OR sql LIKE 'CREATE VIRTUAL%'`,
    postgres: 'SELECT indexname AS name FROM pg_indexes WHERE schemaname = current_schema()',
    mariadb:
      'SELECT DISTINCT index_name AS name FROM information_schema.statistics WHERE table_schema = DATABASE() ORDER BY name',
  };
  const { type } = dataSource.options;
  const rows = await dataSource.query<{ name: string }[]>(statements[type === 'mysql' ? 'mariadb' : type] ?? '');
  return rows.map(({ name }) => name).toSorted();
}

it('[7.1] indexes that the pages create by a statement are declared there too', () => {
  const pages = readdirSync(DOCS, { encoding: 'utf8', recursive: true }).filter((file) => file.endsWith('.md'));
  const undeclared = pages.flatMap((file) => {
    const text = readFileSync(new URL(file, DOCS), 'utf8');
    const names = [...text.matchAll(/^CREATE (?:UNIQUE )?INDEX (?!IF NOT)(\w+)/gm)].map(([, name]) => name);
    return names.filter((name) => !text.includes(`@Index('${name}', { synchronize: false })`));
  });
  expect(undeclared).toEqual([]);
});

describe.each(DATABASES)('indexes on %s', (name) => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createDatabase(name);
  });
  afterEach(() => database.drop());

  it('[7.1] that the pages recommend are kept by synchronize and by migration:generate', async () => {
    const start = async () =>
      startApp('fastify', {
        imports: [
          TypeOrmModule.forRoot({ ...database.options, autoLoadEntities: false, entities: entitiesOn(name) } as never),
          CrudModule.forFeature({
            entity: Product,
            endpoint: '/api/products',
            enablePagination: true,
            enableSearch: true,
            searchableFields: ['name'],
            searchIndex: true,
            sortableFields: ['price'],
          }),
        ],
      });
    let service = await start();
    await service.app.get(DataSource).query(DOWN);
    const before = await indexesOf(service.app.get(DataSource));
    expect(before).toEqual(expect.arrayContaining(['product_price', 'product_price_down']));
    expect(before.length).toBeGreaterThan(name === 'mariadb' ? 2 : 4);
    await service.close();
    // `synchronize` runs at every start.
    service = await start();
    const dataSource = service.app.get(DataSource);
    expect(await indexesOf(dataSource)).toEqual(before);
    const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
    expect(upQueries.map(({ query }) => query)).toEqual([]);
    await service.close();
  });

  it('[7.1] that no entity declares are dropped by TypeORM', async () => {
    const options = { ...database.options, autoLoadEntities: false, entities: [Product] } as never;
    const dataSource = await new DataSource(options).initialize();
    await dataSource.query(DOWN.replace('product_price_down', 'undeclared'));
    const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
    expect(upQueries).toHaveLength(1);
    await dataSource.destroy();
  });
});
