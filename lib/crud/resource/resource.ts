/** One resource, compiled at boot from its declaration and the data source's metadata; immutable. */
import type { DataSource, EntityMetadata } from 'typeorm';
import { InvalidOptionError } from '../../options/invalid-option.js';
import { describeEntity, type EntityDescription, type Field } from '../../entities/entity-schema.js';
import { isSqlite } from '../../entities/database-family.js';
import { EXPECTED_KEY, KEY_ADVICE, type ResolvedCrudOptions } from '../crud-options.js';
import { containsExpression, type Contains } from './text-search.js';

export interface Resource<T extends object> {
  readonly options: ResolvedCrudOptions<T>;
  readonly metadata: EntityMetadata;
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
  const metadata = assertKnown(options, dataSource).getMetadata(options.entity);
  assertUsable(options, metadata, dataSource);
  const schema = describeEntity(metadata, dataSource);
  return Object.freeze({
    options,
    metadata,
    schema,
    searchable: searchableFields(options, schema),
    contains: containsExpression(dataSource),
  });
}

/** @param dataSource `undefined` where the application has none of that name */
export function assertKnown(options: ResolvedCrudOptions, dataSource: DataSource | undefined): DataSource {
  const { entity, dataSource: name } = options;
  if (!dataSource) {
    if (name === undefined)
      return refuse(options, 'entity', 'an entity of a data source', 'none', 'import TypeOrmModule.forRoot({ … })');
    const advice = 'import TypeOrmModule.forRoot({ … }) with that `name`';
    return refuse(options, 'dataSource', 'the name of a data source', JSON.stringify(name), advice);
  }
  if (dataSource.hasMetadata(entity)) return dataSource;
  const advice =
    'add it to `entities`, or set `autoLoadEntities` and import CrudModule.forFeature(…) or TypeOrmModule.forFeature([…])';
  return refuse(options, 'entity', 'an entity known to the data source', 'one that it does not know', advice);
}

function assertUsable(options: ResolvedCrudOptions, metadata: EntityMetadata, dataSource: DataSource): void {
  const { primaryColumns, columns, relations } = metadata;
  const [id, ...others] = primaryColumns;
  if (id?.propertyPath !== 'id' || others.length > 0) {
    const names = primaryColumns.map(({ propertyPath }) => propertyPath).join(', ');
    return refuse(options, 'entity', EXPECTED_KEY, names || 'none', KEY_ADVICE);
  }
  const isGenerated =
    id.isGenerated ||
    (id.default !== undefined && dataSource.driver.isReturningSqlSupported('insert')) ||
    metadata.beforeInsertListeners.length > 0 ||
    id.getEntityValue(metadata.create()) !== undefined;
  if (!isGenerated) {
    const advice = `${KEY_ADVICE}, give the column a default on a database that returns generated values (PostgreSQL, MariaDB), or set it in a @BeforeInsert() method`;
    refuse(options, 'entity', 'an entity with a generated `id`', 'one that nothing generates', advice);
  }
  const computed = columns.find((column) => column.asExpression !== undefined && column.isInsert);
  if (computed && isSqlite(dataSource)) {
    const expected = 'an entity whose computed columns TypeORM leaves out of its statements';
    const advice = 'give the column `insert: false, update: false`';
    refuse(options, 'entity', expected, `\`${computed.propertyName}\``, advice);
  }
  const composite = relations.find(({ joinColumns }) => joinColumns.length > 1);
  if (composite) {
    const expected = 'an entity whose relations have one join column each';
    const got = `\`${composite.propertyName}\` with several`;
    refuse(options, 'entity', expected, got, 'refer to an entity with a single primary key');
  }
}

function refuse(
  { entity }: ResolvedCrudOptions,
  option: keyof ResolvedCrudOptions,
  expected: string,
  got: string,
  advice: string,
): never {
  throw new InvalidOptionError(`CRUD option \`${option}\` of ${entity.name}`, expected, got, advice);
}

function searchableFields(options: ResolvedCrudOptions, schema: EntityDescription): ReadonlyMap<string, Field> {
  const candidates = schema.fields.filter(
    ({ type, readable, column }) => type.searchable && readable && !column.transformer,
  );
  const fields = options.searchableFields.map((name) => {
    const field = candidates.find((candidate) => candidate.name === name);
    if (field) return [name, field] as const;
    const expected = `fields among ${candidates.map((each) => each.name).join(', ')}`;
    const advice = 'name readable text or number columns of the entity';
    return refuse(options, 'searchableFields', expected, JSON.stringify(name), advice);
  });
  return new Map(fields);
}
