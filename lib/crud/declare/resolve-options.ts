/** Checks the options of a resource as far as they can be checked without a data source. */
import type { Type } from '@nestjs/common';
import { describe, expectKnownNames, InvalidOptionError, isClass } from '../../options/invalid-option.js';
import { plainPath } from '../../options/plain-path.js';
import { hasPrimaryKey, isEntity } from '../../entities/declared-entities.js';
import type { CrudOptions, FieldPermission } from './crud-options.js';
import type { RelationThrough, Paging } from './list-options.js';
import { missingOption, OPERATION_NAMES, type OperationName } from './operations.js';
import { ScopeReference } from './scope.js';
import { areRecordSchemas, type RecordSchemas } from './standard-schema.js';

export const EXPECTED_KEY = 'an entity with a single primary key named `id`';
export const KEY_ADVICE =
  'declare `@PrimaryGeneratedColumn() id: number`, or `@PrimaryGeneratedColumn("uuid") id: string`';

/** What an option must be, apart from the entity: its fields are checked at startup. */
interface OptionCheck<V> {
  readonly fallback: V;
  readonly expected: string;
  readonly accepts: (value: unknown) => boolean;
  readonly advice: string;
}

const check = <V>(
  fallback: V,
  expected: string,
  accepts: (value: unknown) => boolean,
  advice: string,
): OptionCheck<V> => ({ fallback, expected, accepts, advice });

const flag = check(false, 'true or false', (value) => typeof value === 'boolean', 'set one of the two');
const isName = (value: unknown): value is string => typeof value === 'string' && value !== '';
const areNames = (value: unknown): boolean => Array.isArray(value) && value.every(isName);
const names = check<readonly string[]>([], 'an array of field names', areNames, 'give for example ["name"]');
const optional = (accepts: (value: unknown) => boolean) => (value: unknown) => value === undefined || accepts(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 1;

type IncludedRelation = string | RelationThrough;
const isIncluded = (value: unknown): boolean =>
  isName(value) || (isClass((value as RelationThrough | null)?.as) && isName((value as RelationThrough).relation));
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const has = (value: Readonly<Record<string, unknown>>, ...known: readonly string[]): boolean =>
  Object.keys(value).every((name) => known.includes(name));
const isOwner = (value: unknown): boolean =>
  isObject(value) &&
  has(value, 'field', 'reads', 'except') &&
  isName(value['field']) &&
  optional((reads) => typeof reads === 'boolean')(value['reads']) &&
  optional(areNames)(value['except']);
const isPermission = (value: unknown): boolean =>
  isObject(value) &&
  has(value, 'read', 'write') &&
  optional((read) => read === 'never' || areNames(read))(value['read']) &&
  optional((write) => write === 'never' || write === 'once' || areNames(write))(value['write']);

/** A new option is a new row. */
const CHECKS = {
  enablePagination: check<Paging>(
    false,
    "true, false, 'cursor' or 'both'",
    (value) => typeof value === 'boolean' || value === 'cursor' || value === 'both',
    "set true for page numbers, 'cursor' for cursors, or 'both'",
  ),
  enableSearch: flag,
  searchIndex: flag,
  enableExists: flag,
  enableCount: flag,
  enableExport: flag,
  aggregatableFields: names,
  searchableFields: names,
  filterableFields: check<true | readonly string[]>(
    [],
    'true or an array of field names',
    (value) => value === true || areNames(value),
    'give for example ["status"], or true for every readable column',
  ),
  sortableFields: names,
  defaultSort: check<string | undefined>(
    undefined,
    'names of fields separated by commas',
    optional(isName),
    'give for example "-publishedAt,title"',
  ),
  includableRelations: check<readonly IncludedRelation[]>(
    [],
    'an array of names of relations, or of objects with `relation` and `as`',
    (value) => Array.isArray(value) && value.every(isIncluded),
    'give for example ["author"], or [{ relation: "author", as: AuthorsController }]',
  ),
  maxIncluded: check(100, 'an integer from 1', isCount, 'give for example 20'),
  linkableRelations: check<readonly string[]>(
    [],
    'an array of names of relations',
    areNames,
    'give for example ["tags"]',
  ),
  scope: check<CrudOptions['scope']>(
    undefined,
    'a function or useScope(…)',
    optional((value) => typeof value === 'function' || value instanceof ScopeReference),
    'give for example ({ user }) => ({ ownerId: user?.id ?? 0 })',
  ),
  owner: check<CrudOptions['owner']>(
    undefined,
    'the name of a field, or an object { field, reads, except }',
    optional((value) => isName(value) || isOwner(value)),
    'give for example "ownerId", or { field: "ownerId", reads: true, except: ["ADMIN"] }',
  ),
  fields: check<Readonly<Record<string, FieldPermission>>>(
    {},
    'an object with an entry for each field',
    isObject,
    'give for example { notes: { read: ["EDITOR"], write: "never" } }',
  ),
  enableRestore: flag,
  enableBatch: flag,
  maxBatchSize: check(100, 'an integer from 1', isCount, 'give for example 500'),
  operations: check<readonly OperationName[] | undefined>(
    undefined,
    'an array of at least one operation',
    optional((value) => areNames(value) && (value as string[]).length > 0),
    'give for example ["findAll", "findById"]',
  ),
  deletedRoles: check<readonly string[]>([], 'an array of role names', areNames, 'give for example ["ADMIN"]'),
  requireIfMatch: flag,
  idempotency: flag,
  schema: check<RecordSchemas>(
    {},
    '{create, update} with Standard Schemas',
    areRecordSchemas,
    'give for example { create: article, update: article }, where article is a schema of zod 3.24, valibot 1 or any other library of https://standardschema.dev',
  ),
  dataSource: check<string | undefined>(
    undefined,
    'the name of a data source',
    optional(isName),
    'give the name of TypeOrmModule.forRoot',
  ),
  maxListSize: check<number | undefined>(undefined, 'an integer from 1', optional(isCount), 'give for example 1000'),
};

type Checks = typeof CHECKS;
type Checked = { readonly [K in keyof Checks]: Checks[K]['fallback'] };

export interface ResolvedCrudOptions<T extends object = object> extends Checked {
  readonly entity: Type<T>;
  readonly endpoint: string;
}

/** The options of an entity that no resource serves, for its records in relations. */
export const defaultOptions = <T extends object>(entity: Type<T>): ResolvedCrudOptions<T> => {
  const fallbacks = Object.entries(CHECKS).map(([name, { fallback }]) => [name, fallback]);
  return Object.freeze({ entity, ...(Object.fromEntries(fallbacks) as Checked), endpoint: '' });
};

export function resolveCrudOptions<T extends object>(options: CrudOptions<T>): ResolvedCrudOptions<T> {
  const { entity, endpoint } = (options ?? {}) as CrudOptions<T>;
  const of = isClass(entity) ? ` of ${entity.name}` : '';
  const at = (name: string): string => `CRUD option \`${name}\`${of}`;
  const refuse = (name: string, expected: string, got: unknown, advice: string): never => {
    throw new InvalidOptionError(at(name), expected, describe(got), advice);
  };
  expectKnownNames(`CRUD options${of}`, options, ['entity', 'endpoint', ...Object.keys(CHECKS)]);

  const classAdvice = isClass(entity)
    ? 'decorate the class with @Entity()'
    : 'give the class that is decorated with @Entity()';
  if (!isClass(entity) || !isEntity(entity)) refuse('entity', 'a TypeORM entity class', entity, classAdvice);
  // TypeORM would refuse it too, but only when it connects.
  if (!hasPrimaryKey(entity)) throw new InvalidOptionError(at('entity'), EXPECTED_KEY, 'none', KEY_ADVICE);
  const given = options as unknown as Readonly<Record<string, unknown>>;
  const checked = Object.fromEntries(
    Object.entries<OptionCheck<unknown>>(CHECKS).map(([name, { fallback, expected, accepts, advice }]) => {
      const value = given[name] === undefined ? fallback : given[name];
      if (!accepts(value)) refuse(name, expected, value, advice);
      return [name, Array.isArray(value) ? Object.freeze([...(value as unknown[])]) : value];
    }),
  ) as unknown as Checked;
  for (const [field, permission] of Object.entries(checked.fields)) {
    const expected = '{ read, write }, each "never" or an array of roles, and "once" for write';
    const advice = 'give for example { read: ["EDITOR"], write: "never" }';
    if (!isPermission(permission))
      throw new InvalidOptionError(at(`fields.${field}`), expected, JSON.stringify(permission), advice);
  }
  if (checked.enableSearch && checked.searchableFields.length === 0)
    throw new InvalidOptionError(
      at('searchableFields'),
      'at least one field, because enableSearch is on',
      'none',
      'name the fields to search',
    );
  if (checked.searchIndex && !checked.enableSearch)
    throw new InvalidOptionError(at('searchIndex'), 'used together with enableSearch', 'no search', 'set enableSearch');
  for (const name of checked.operations ?? []) {
    if (!OPERATION_NAMES.includes(name))
      refuse('operations', `names of operations: ${OPERATION_NAMES.join(', ')}`, name, 'correct the name');
    const missing = missingOption(name, checked);
    if (missing === undefined) continue;
    const advice = `set ${missing} or leave the operation out`;
    throw new InvalidOptionError(at('operations'), 'operations that the other options enable', `"${name}"`, advice);
  }
  return Object.freeze({ entity, ...checked, endpoint: normaliseEndpoint(endpoint, at('endpoint')) });
}

/** Parameters are checked with the fields that they name. */
function normaliseEndpoint(endpoint: unknown, path: string): string {
  const levels = typeof endpoint === 'string' ? endpoint.split('/').filter((level) => level !== '') : [];
  const parameters = levels.filter((level) => level.startsWith(':'));
  const isUnique = new Set(parameters).size === parameters.length;
  const withoutColons = levels.map((level) => (/^:\w+$/.test(level) ? level.slice(1) : level)).join('/');
  if (isUnique && plainPath(withoutColons) !== undefined) return `/${levels.join('/')}`;
  const advice = 'Separate letters, digits and hyphens by slashes; a parameter is a whole level, such as `:shopId`';
  throw new InvalidOptionError(path, 'a path such as "/api/products"', describe(endpoint), advice);
}
