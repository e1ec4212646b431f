/** Checks the options of a resource as far as they can be checked without a data source. */
import type { Type } from '@nestjs/common';
import { describe, expectKnownNames, InvalidOptionError, isClass } from '../../options/invalid-option.js';
import { plainPath } from '../../options/plain-path.js';
import { hasPrimaryKey, isEntity } from '../../entities/declared-entities.js';
import type { CrudOptions, FieldPermission } from './crud-options.js';
import type { RelationThrough, Paging } from './list-options.js';
import { forEnablingOptions, OPERATION_NAMES, type OperationName } from './operations.js';
import { refuseCombinations } from './option-combinations.js';
import { ScopeReference } from './scope.js';
import { isSchema, type RecordSchemas } from './standard-schema.js';

export const EXPECTED_KEY = 'an entity with a single primary key named `id`';
export const KEY_ADVICE =
  'declare `@PrimaryGeneratedColumn() id: number`, or `@PrimaryGeneratedColumn("uuid") id: string`';

type Accepts = (value: unknown) => boolean;

/** What an option must be, apart from the entity: its fields are checked at startup. */
const check = <V>(fallback: V, expected: string, accepts: Accepts, advice: string) =>
  Object.freeze({ fallback, expected, accepts, advice });
type OptionCheck<V> = ReturnType<typeof check<V>>;

const isBoolean: Accepts = (value) => typeof value === 'boolean';
const isCount: Accepts = (value) => Number.isSafeInteger(value) && (value as number) >= 1;
const isName = (value: unknown): value is string => typeof value === 'string' && value !== '';
const areNames: Accepts = (value) => Array.isArray(value) && value.every(isName);
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function optional(accepts: Accepts): Accepts {
  return (value) => value === undefined || accepts(value);
}

/** An object with these properties and no others. */
function objectOf(properties: Readonly<Record<string, Accepts>>): Accepts {
  const names = Object.keys(properties);
  return (value) =>
    isObject(value) &&
    Object.keys(value).every((name) => names.includes(name)) &&
    names.every((name) => properties[name]?.(value[name]));
}

const isIncluded: Accepts = (value) =>
  isName(value) ||
  (isClass((value as RelationThrough | null)?.controller) && isName((value as RelationThrough).relation));
const isOwner = objectOf({
  field: isName,
  claim: optional(isName),
  reads: optional(isBoolean),
  except: optional(areNames),
});
const areRoles: Accepts = (value) => areNames(value) && (value as unknown[]).length > 0;
const isPermission = objectOf({
  read: optional((read) => read === 'never' || areRoles(read)),
  write: optional((write) => write === 'never' || write === 'once' || areRoles(write)),
});

const flag = check(false, 'true or false', isBoolean, 'set one of the two');
const listOf = (names: string, example: string): OptionCheck<readonly string[]> =>
  check([], `an array of ${names}`, areNames, `give for example ["${example}"]`);
const fieldList = listOf('field names', 'name');
const name = (expected: string, advice: string): OptionCheck<string | undefined> =>
  check(undefined, expected, optional(isName), advice);
/** A new option is a new row. Options that enable operations are rows only where they are no flags. */
const CHECKS = {
  ...forEnablingOptions(flag),
  enablePagination: check<Paging>(
    false,
    "true, false, 'cursor' or 'both'",
    (value) => isBoolean(value) || value === 'cursor' || value === 'both',
    "set true for page numbers, 'cursor' for cursors, or 'both'",
  ),
  searchIndex: flag,
  aggregatableFields: fieldList,
  searchableFields: fieldList,
  filterableFields: check<true | readonly string[]>(
    [],
    'true or an array of field names',
    (value) => value === true || areNames(value),
    'give for example ["status"], or true for every readable column',
  ),
  sortableFields: fieldList,
  defaultSort: name('names of fields separated by commas', 'give for example "-publishedAt,title"'),
  includableRelations: check<readonly (string | RelationThrough)[]>(
    [],
    'an array of names of relations, or of objects with `relation` and `controller`',
    (value) => Array.isArray(value) && value.every(isIncluded),
    'give for example ["author"], or [{ relation: "author", controller: AuthorsController }]',
  ),
  maxIncluded: check(100, 'an integer from 1', isCount, 'give for example 20'),
  linkableRelations: listOf('names of relations', 'tags'),
  scope: check<CrudOptions['scope']>(
    undefined,
    'a function or useScope(…)',
    optional((value) => typeof value === 'function' || value instanceof ScopeReference),
    'give for example ({ user }) => ({ ownerId: user?.id ?? 0 })',
  ),
  owner: check<CrudOptions['owner']>(
    undefined,
    'the name of a field, or an object { field, claim, reads, except }',
    optional((value) => isName(value) || isOwner(value)),
    'give for example "ownerId", or { field: "ownerId", reads: true, except: ["ADMIN"] }',
  ),
  fieldPermissions: check<Readonly<Record<string, FieldPermission>>>(
    {},
    'an object with an entry for each field',
    isObject,
    'give for example { notes: { read: ["EDITOR"], write: "never" } }',
  ),
  maxBatchSize: check(100, 'an integer from 1', isCount, 'give for example 500'),
  operations: check<readonly OperationName[] | undefined>(
    undefined,
    'an array of at least one operation',
    optional((value) => areNames(value) && (value as string[]).length > 0),
    'give for example ["findAll", "findById"]',
  ),
  deletedRoles: listOf('role names', 'ADMIN'),
  requireIfMatch: flag,
  enableIdempotency: flag,
  validationSchema: check<RecordSchemas>(
    {},
    '{create, update} with Standard Schemas',
    objectOf({ create: optional(isSchema), update: optional(isSchema) }),
    'give for example { create: article, update: article }, where article is a schema of zod 3.24, valibot 1 or any other library of https://standardschema.dev',
  ),
  dataSource: name('the name of a data source', 'give the name of TypeOrmModule.forRoot'),
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
  const refuse = (name: string, expected: string, got: string, advice: string): never => {
    throw new InvalidOptionError(`CRUD option \`${name}\`${of}`, expected, got, advice);
  };
  expectKnownNames(`CRUD options${of}`, options, ['entity', 'endpoint', ...Object.keys(CHECKS)]);
  if (!isClass(entity) || !isEntity(entity)) {
    const advice = isClass(entity) ? 'decorate the class' : 'give the class that is decorated';
    refuse('entity', 'a TypeORM entity class', describe(entity), `${advice} with @Entity()`);
  }
  // TypeORM would refuse it too, but only when it connects.
  if (!hasPrimaryKey(entity)) refuse('entity', EXPECTED_KEY, 'none', KEY_ADVICE);
  const given = options as unknown as Readonly<Record<string, unknown>>;
  const checked = Object.fromEntries(
    Object.entries<OptionCheck<unknown>>(CHECKS).map(([name, { fallback, expected, accepts, advice }]) => {
      const value = given[name] === undefined ? fallback : given[name];
      if (!accepts(value)) refuse(name, expected, describe(value), advice);
      return [name, Array.isArray(value) ? Object.freeze([...(value as unknown[])]) : value];
    }),
  ) as unknown as Checked;
  for (const [field, permission] of Object.entries(checked.fieldPermissions)) {
    const expected = '{ read, write }, each "never" or an array of at least one role, and "once" for write';
    const advice = 'give for example { read: ["EDITOR"], write: "never" }';
    if (!isPermission(permission)) refuse(`fieldPermissions.${field}`, expected, JSON.stringify(permission), advice);
  }
  for (const name of checked.operations ?? [])
    if (!OPERATION_NAMES.includes(name))
      refuse('operations', `names of operations: ${OPERATION_NAMES.join(', ')}`, describe(name), 'correct the name');
  if (typeof (checked.scope as Partial<Type> | undefined)?.prototype?.scope === 'function') {
    const advice = `write scope: useScope(${(given['scope'] as Type).name})`;
    refuse('scope', 'a function or useScope(…)', 'a class', advice);
  }
  refuseCombinations(checked, given, refuse);
  const path = normaliseEndpoint(endpoint);
  const advice = 'Separate letters, digits and hyphens by slashes; a parameter is a whole level, such as `:shopId`';
  if (path === undefined) refuse('endpoint', 'a path such as "/api/products"', describe(endpoint), advice);
  return Object.freeze({ entity, ...checked, endpoint: path as string });
}

/** Every role that the options name. */
export const rolesOf = ({ owner, deletedRoles, fieldPermissions }: ResolvedCrudOptions): readonly string[] => [
  ...deletedRoles,
  ...((typeof owner === 'object' && owner.except) || []),
  ...Object.values(fieldPermissions).flatMap(({ read, write }) =>
    [read, write].flatMap((roles) => (typeof roles === 'object' ? roles : [])),
  ),
];

/** `undefined` where it is no path. Parameters are checked with the fields that they name. */
function normaliseEndpoint(endpoint: unknown): string | undefined {
  const levels = typeof endpoint === 'string' ? endpoint.split('/').filter((level) => level !== '') : [];
  const parameters = levels.filter((level) => level.startsWith(':'));
  const isUnique = new Set(parameters).size === parameters.length;
  const withoutColons = levels.map((level) => (/^:\w+$/.test(level) ? level.slice(1) : level)).join('/');
  return isUnique && plainPath(withoutColons) !== undefined ? `/${levels.join('/')}` : undefined;
}
