/** The statements of search indexes, and databases that cannot create one. */
import { Module } from '@nestjs/common';
import { TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import { CrudModule } from 'declarest';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { inApplication } from '../../../lib/cli/compile-application.js';
import { schemaStatements } from '../../../lib/crud/inspect.js';
import { prepareSearchIndex } from '../../../lib/crud/nest/startup.js';
import { crudError, startCrud } from '../../crud/service.js';
import { createDatabase, DATABASES } from '../../harness/databases.js';

@Entity('article')
class Article {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 100 })
  title!: string;

  @Column({ type: 'text', nullable: true })
  text!: string | null;

  @Column({ type: 'int', nullable: true })
  year!: number | null;
}

const INDEXED = {
  entity: Article,
  endpoint: '/api/indexed',
  enableSearch: true,
  searchableFields: ['title', 'text', 'year'],
  searchIndex: true,
} as const;

describe.each(DATABASES.filter((name) => name !== 'mariadb'))('on %s', (database) => {
  it('[10] without synchronize refuses to boot until the printed statements have run', async () => {
    const test = await createDatabase(database);
    const options = { ...test.options, autoLoadEntities: false, entities: [Article] } as TypeOrmModuleOptions;
    @Module({ imports: [TypeOrmModule.forRoot(options), CrudModule.forFeature(INDEXED)] })
    class AppModule {}
    const statements = await inApplication({ module: AppModule, configure: undefined }, 'express', schemaStatements);
    await test.drop();
    const parts = { database, entities: [Article], resources: [INDEXED] };
    const { message } = await crudError('express', { ...parts, dataSource: { synchronize: false } });
    expect(message).toBe(
      'CRUD option `searchIndex` of Article must be used with its index in the database, got none. ' +
        'Run `npx declarest schema <app module>` and put its statements into a migration.',
    );
    class Migration {
      name = 'Search1700000000000';
      async up(runner: { query(sql: string): Promise<unknown> }): Promise<void> {
        const id = database === 'postgres' ? 'SERIAL PRIMARY KEY' : 'INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL';
        await runner.query(`CREATE TABLE article (id ${id}, title varchar(100) NOT NULL, text text, year int)`);
        for (const statement of statements) await runner.query(statement);
      }
      async down(): Promise<void> {}
    }
    const service = await startCrud('express', {
      ...parts,
      dataSource: { synchronize: false, migrations: [Migration], migrationsRun: true },
    });
    await service.post('/api/indexed', { title: 'The quick brown fox' });
    expect((await service.get('/api/indexed/search?q=quick')).json.data).toHaveLength(1);
    await service.close();
  });
});

it('[10] refuses to boot where the database cannot create the index', async () => {
  const resource = {
    options: { entity: Article, searchIndex: true },
    searchIndex: { statements: ['CREATE EXTENSION pg_trgm'] },
  };
  // The servers of the tests have the extension.
  const query = (): Promise<never> => Promise.reject(new Error('extension "pg_trgm" is not available'));
  const dataSource = { options: { type: 'postgres', synchronize: true }, query };
  await expect(prepareSearchIndex({ ...resource, database: { dataSource } } as never)).rejects.toThrow(
    'CRUD option `searchIndex` of Article must be used where the database can create the index, ' +
      'got "extension \\"pg_trgm\\" is not available". ' +
      'Let an administrator run CREATE EXTENSION pg_trgm on PostgreSQL; SQLite needs FTS5.',
  );
});
