/** A testing module of @nestjs/testing with generated controllers and a database of its own. */
import type { Provider, Type } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { TestingModule } from '@nestjs/testing';
import { CrudModule, type CrudResource } from '../crud/crud.module.js';
import { optionsOf } from '../crud/declare/declared-options.js';
import { IdempotencyKey } from '../crud/idempotency/idempotency-keys.js';
import { relatedClasses } from '../entities/declared-entities.js';
import { InvalidOptionError } from '../options/invalid-option.js';

/**
 * Compiles and initialises generated controllers on an SQLite database in memory, which ends with `close()`. Needs
 * `@nestjs/testing` and `better-sqlite3`.
 * @param controllers classes that extend `CrudController(options)`, or CRUD options
 * @param entities those that the entities of the controllers refer to
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
  const feature = { ...CrudModule.forFeature(...controllers), providers: [...providers] };
  // What `autoLoadEntities` would add, without the entities of other modules of the process.
  const declared = feature.controllers?.flatMap((each) => optionsOf(each)?.entity ?? []) ?? [];
  const all = [...new Set([...entities, ...declared, IdempotencyKey])];
  expectRelated(all);
  const database = TypeOrmModule.forRoot({
    type: 'better-sqlite3',
    database: ':memory:',
    entities: all,
    synchronize: true,
    // What a database in memory refuses, it refuses again.
    toRetry: () => false,
  });
  const module = await Test.createTestingModule({ imports: [database, feature] }).compile();
  return module.init();
}

/** @throws InvalidOptionError naming each class that a relation needs, and that is not among the entities */
function expectRelated(entities: readonly unknown[]): void {
  const missing = entities.flatMap(relatedClasses).filter(([, related]) => !entities.includes(related));
  if (missing.length === 0) return;
  const expected = 'called with every entity that a relation needs';
  const got = `none for ${missing.map(([relation, { name }]) => `${relation} (${name})`).join(', ')}`;
  const advice = `add ${[...new Set(missing.map(([, { name }]) => name))].join(', ')} to the second argument`;
  throw new InvalidOptionError('createCrudTestingModule', expected, got, advice);
}
