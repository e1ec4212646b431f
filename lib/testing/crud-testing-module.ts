/** A testing module of @nestjs/testing with generated controllers and a database of its own. */
import type { Provider, Type } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { TestingModule } from '@nestjs/testing';
import { CrudModule, type CrudResource } from '../crud/crud.module.js';

/**
 * Compiles and initialises generated controllers on an SQLite database in memory, which ends with `close()`. Needs
 * `@nestjs/testing` and `better-sqlite3`.
 * @param controllers classes that extend `CrudController(options)`, or CRUD options
 * @param entities those of the controllers, and those that they refer to
 * @param providers what the controllers inject
 * @throws InvalidOptionError where a declaration is wrong
 * @example const module = await createCrudTestingModule([ArticlesController], [Article]);
 */
export async function createCrudTestingModule(
  controllers: readonly CrudResource[],
  entities: readonly Type[],
  providers: readonly Provider[] = [],
): Promise<TestingModule> {
  const { Test } = await import('@nestjs/testing');
  const database = TypeOrmModule.forRoot({
    type: 'better-sqlite3',
    database: ':memory:',
    entities: [...entities],
    autoLoadEntities: true,
    synchronize: true,
  });
  const feature = { ...CrudModule.forFeature(...controllers), providers: [...providers] };
  const module = await Test.createTestingModule({ imports: [database, feature] }).compile();
  return module.init();
}
