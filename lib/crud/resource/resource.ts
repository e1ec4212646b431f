/** One resource, compiled at boot from its declaration and the data source's metadata; immutable. */
import type { DataSource } from 'typeorm';
import { InvalidOptionError } from '../../options/invalid-option.js';
import { describeEntity, type EntityDescription, type Field } from '../../entities/entity-schema.js';
import { isSqlite } from '../../entities/database-family.js';
import type { ResolvedCrudOptions } from '../crud-options.js';
import { containsExpression, type Contains } from './text-search.js';

export interface Resource<T extends object> {
  readonly options: ResolvedCrudOptions<T>;
  readonly schema: EntityDescription;
  /** By the name under which it is searched. */
  readonly searchable: ReadonlyMap<string, Field>;
  /** How its database searches for a text. */
  readonly contains: Contains;
}

export function compileResource<T extends object>(
  options: ResolvedCrudOptions<T>,
  dataSource: DataSource,
): Resource<T> {
  const { entity } = options;
  assertUsable(options, dataSource);
  const schema = describeEntity(dataSource.getMetadata(entity), dataSource);
  return Object.freeze({
    options,
    schema,
    searchable: searchableFields(options, schema),
    contains: containsExpression(dataSource),
  });
}

/** @param dataSource `undefined` where the application has none of that name */
export function assertKnown(options: ResolvedCrudOptions, dataSource: DataSource | undefined): DataSource {
  if (!dataSource)
    throw new InvalidOptionError(
      `CRUD option \`dataSource\` of ${options.entity.name}`,
      'a data source of the application',
      options.dataSource === undefined ? 'no default one' : JSON.stringify(options.dataSource),
      'import TypeOrmModule.forRoot({ … }), with that `name` if it is a further one',
    );
  if (!dataSource.hasMetadata(options.entity))
    refuse(
      options,
      'an entity known to the data source',
      'one that it does not know',
      'add it to `entities`, or set `autoLoadEntities` and import CrudModule.forFeature(…) or TypeOrmModule.forFeature([…])',
    );
  return dataSource;
}

function assertUsable(options: ResolvedCrudOptions, dataSource: DataSource): void {
  assertKnown(options, dataSource);
  const metadata = dataSource.getMetadata(options.entity);
  const advice = 'declare `@PrimaryGeneratedColumn() id: number`, or `@PrimaryGeneratedColumn("uuid") id: string`';
  const [id, ...others] = metadata.primaryColumns;
  if (id?.propertyPath !== 'id' || others.length > 0)
    refuse(
      options,
      'a single primary key named `id`',
      metadata.primaryColumns.map(({ propertyPath }) => propertyPath).join(', ') || 'none',
      advice,
    );
  const isGenerated =
    id?.isGenerated === true ||
    (id?.default !== undefined && dataSource.driver.isReturningSqlSupported('insert')) ||
    metadata.beforeInsertListeners.length > 0 ||
    id?.getEntityValue(metadata.create()) !== undefined;
  if (!isGenerated)
    refuse(
      options,
      'a generated `id`',
      'one that nothing generates',
      `${advice}, give the column a default on a database with RETURNING (PostgreSQL, MariaDB), or set it in a @BeforeInsert() method`,
    );
  const computed = metadata.columns.find((column) => column.asExpression !== undefined && column.isInsert);
  if (computed && isSqlite(dataSource))
    refuse(
      options,
      'a computed column that TypeORM leaves out of its statements',
      `\`${computed.propertyName}\`, which it would write to SQLite`,
      'give the column `insert: false, update: false`',
    );
  const composite = metadata.relations.find(({ joinColumns }) => joinColumns.length > 1);
  if (composite)
    refuse(
      options,
      'relations of one join column',
      `\`${composite.propertyName}\` with several`,
      'refer to an entity with a single primary key',
    );
}

function refuse({ entity }: ResolvedCrudOptions, expected: string, got: string, advice: string): never {
  throw new InvalidOptionError(`CRUD option \`entity\` of ${entity.name}`, expected, got, advice);
}

function searchableFields(
  { entity, searchableFields }: ResolvedCrudOptions,
  schema: EntityDescription,
): ReadonlyMap<string, Field> {
  const candidates = schema.fields.filter(
    ({ type, readable, column }) => type.searchable && readable && !column.transformer,
  );
  return new Map(
    searchableFields.map((name) => {
      const field = candidates.find((candidate) => candidate.name === name);
      if (!field)
        throw new InvalidOptionError(
          `CRUD option \`searchableFields\` of ${entity.name}`,
          `some of ${candidates.map((each) => each.name).join(', ')}`,
          JSON.stringify(name),
          'name readable text or number columns of the entity',
        );
      return [name, field] as const;
    }),
  );
}
