/** Checks the options of a resource as far as they can be checked without a data source. */
import type { Type } from '@nestjs/common';
import { areNames, areSomeNames, describe, expectKnownNames, isClass } from '../../options/invalid-option.js';
import { flag, isBoolean, isFunction, isObject, isObjectOf, isOneOf, namesOf } from '../../options/option-table.js';
import { isUndefinedOr, optional, plainPath, readOptions, refuserOf, row } from '../../options/option-table.js';
import type { Accepts, OptionsOf, Refuse } from '../../options/option-table.js';
import type { RouteAccess } from '../../routes/declared-route.js';
import { isEntity, isView, primaryColumns } from '../../entities/declared-entities.js';
import type { CrudOptions, FieldPermission } from './crud-options.js';
import type { CustomOperation } from './custom-operation.js';
import type { RelationThrough, Paging } from './list-options.js';
import { isFixed, isKeyless, missingOption, type OperationDeclaration } from './operations.js';
import { refuseCombinations, refuseWithoutKey } from './option-combinations.js';
import { resolveAccess, type ResourceAccess } from './resource-access.js';
import { ScopeReference } from './scope.js';
import { isSchema, type RecordSchemas } from './standard-schema.js';

const isCount: Accepts = (value) => Number.isSafeInteger(value) && (value as number) >= 1;
const isName: Accepts = (value) => typeof value === 'string' && value !== '';
const isRelation: Accepts = (value) => {
  const { controller, relation } = (value ?? {}) as RelationThrough;
  return isName(value) || (isClass(controller) && isName(relation));
};
const isOwner = isObjectOf({
  field: isName,
  claim: isUndefinedOr(isName),
  reads: isUndefinedOr(isBoolean),
  except: isUndefinedOr(areNames),
});
const isPermission = isObjectOf({
  read: isUndefinedOr((read) => read === 'never' || areSomeNames(read)),
  write: isUndefinedOr((write) => isOneOf('never', 'once')(write) || areSomeNames(write)),
});

const fields = namesOf('field names', 'name');
/** A new option is a new row. */
const OPTIONS = {
  enableSearch: flag(),
  enableExists: flag(),
  enableCount: flag(),
  enableExport: flag(),
  enableImport: flag(),
  enableBatch: flag(),
  enableRestore: flag(),
  enablePagination: row<Paging>(
    false,
    "true, false, 'cursor' or 'both'",
    isOneOf(true, false, 'cursor', 'both'),
    "set true for page numbers, 'cursor' for cursors, or 'both'",
  ),
  searchIndex: flag(),
  aggregatableFields: fields,
  searchableFields: fields,
  filterableFields: row<true | readonly string[]>(
    [],
    'true or an array of field names',
    (value) => value === true || areNames(value),
    'give for example ["status"], or true for every readable column',
  ),
  sortableFields: fields,
  defaultSort: optional<string>('names of fields separated by commas', isName, 'give for example "-publishedAt,title"'),
  includableRelations: row<readonly (string | RelationThrough)[]>(
    [],
    'an array of names of relations, or of objects with `relation` and `controller`',
    (value) => Array.isArray(value) && value.every(isRelation),
    'give for example ["author"], or [{ relation: "author", controller: AuthorsController }]',
  ),
  maxIncluded: row(100, 'an integer from 1', isCount, 'give for example 20'),
  linkableRelations: namesOf('names of relations', 'tags'),
  scope: optional<CrudOptions['scope']>(
    'a function or useScope(…)',
    (value) => isFunction(value) || value instanceof ScopeReference,
    'give for example ({ user }) => ({ ownerId: user?.id ?? 0 })',
  ),
  owner: optional<CrudOptions['owner']>(
    'the name of a field, or an object { field, claim, reads, except }',
    (value) => isName(value) || isOwner(value),
    'give for example "ownerId", or { field: "ownerId", reads: true, except: ["ADMIN"] }',
  ),
  access: row<ResourceAccess>({}, 'an object', isObject, 'give for example { read: "public", delete: ["ADMIN"] }'),
  fieldPermissions: row<Readonly<Record<string, FieldPermission>>>(
    {},
    'an object with an entry for each field',
    isObject,
    'give for example { notes: { read: ["EDITOR"], write: "never" } }',
  ),
  maxBatchSize: row(100, 'an integer from 1', isCount, 'give for example 500'),
  operations: optional<NonNullable<CrudOptions['operations']>>(
    'an array of at least one operation',
    (value) => Array.isArray(value) && value.length > 0,
    'give for example ["findAll", "findById"]',
  ),
  deletedRoles: namesOf('role names', 'ADMIN'),
  requireIfMatch: flag(),
  retryable: flag(),
  clientId: flag(),
  enableIdempotency: flag(),
  validationSchema: row<RecordSchemas>(
    {},
    '{create, update} with Standard Schemas',
    isObjectOf({ create: isUndefinedOr(isSchema), update: isUndefinedOr(isSchema) }),
    'give for example { create: article, update: article }, where article is a schema of zod 3.24, valibot 1 or any other library of https://standardschema.dev',
  ),
  dataSource: optional<string>('the name of a data source', isName, 'give the name of TypeOrmModule.forRoot'),
  maxListSize: optional<number>('an integer from 1', isCount, 'give for example 1000'),
  maxOffset: optional<number>('an integer from 1', isCount, 'give for example 10_000'),
};

export interface ResolvedCrudOptions extends OptionsOf<typeof OPTIONS> {
  readonly entity: Type<object>;
  readonly endpoint: string;
  /** Every operation that the controller has as a method. */
  readonly knownOperations: readonly OperationDeclaration[];
  /** The names of those that have a generated route. */
  readonly generated: ReadonlySet<string>;
  /** The access by the name of the operation, as far as the option `access` covers them. */
  readonly accessOf: ReadonlyMap<string, RouteAccess>;
}

const NONE = { knownOperations: [], generated: new Set<string>(), accessOf: new Map() };

/** The options of an entity that no resource serves, for its records in relations. */
export const defaultOptions = (entity: Type<object>): ResolvedCrudOptions =>
  Object.freeze({ ...readOptions(OPTIONS, {}, refuserOf('CRUD')), ...NONE, entity, endpoint: '' });

export function resolveCrudOptions(
  options: CrudOptions,
  standard: readonly OperationDeclaration[],
  customOperation?: (given: CustomOperation, refuse: Refuse) => OperationDeclaration,
): ResolvedCrudOptions {
  const { entity, endpoint } = (options ?? {}) as CrudOptions;
  const of = isClass(entity) ? ` of ${entity.name}` : '';
  const refuse: Refuse = refuserOf('CRUD', of);
  expectKnownNames(`CRUD options${of}`, options, ['entity', 'endpoint', ...Object.keys(OPTIONS)]);
  if (!isClass(entity) || !isEntity(entity)) {
    const advice = isClass(entity) ? 'decorate the class' : 'give the class that is decorated';
    refuse('entity', 'a TypeORM entity class', describe(entity), `${advice} with @Entity()`);
  }
  // TypeORM would refuse it too, but only when it connects.
  const keys = primaryColumns(entity);
  if (keys.length === 0 && !isView(entity)) {
    const advice = 'declare `@PrimaryGeneratedColumn() id: number`, or `@PrimaryGeneratedColumn("uuid") id: string`';
    refuse('entity', 'an entity with a primary key', 'none', advice);
  }
  const checked = readOptions(OPTIONS, options, refuse);
  const names = standard.map(({ name }) => name).join(', ');
  const named = checked.operations?.map((given): OperationDeclaration => {
    const known = standard.find((each) => each === given || each.name === given);
    if (known) return known;
    if (isObject(given) && customOperation) return customOperation(given as CustomOperation, refuse);
    return refuse('operations', `names of operations: ${names}`, describe(given), 'correct the name');
  });
  const own = named?.filter((each) => !standard.includes(each)) ?? [];
  const knownOperations = [...own.filter(isFixed), ...standard, ...own.filter((each) => !isFixed(each))];
  const twice = own.find(({ name }) => knownOperations.filter((each) => each.name === name).length > 1);
  if (twice) refuse('operations', 'operations with different names', `"${twice.name}" twice`, 'name one anew');
  // `standardOperations` given as a whole means: generate what the other options enable.
  const demanded =
    named?.filter((each, index) => own.includes(each) || each.name === checked.operations?.[index]) ?? [];
  const possible = keys.length === 0 ? knownOperations.filter(isKeyless) : knownOperations;
  if (keys.length === 0) refuseWithoutKey(checked, demanded, refuse);
  for (const [field, permission] of Object.entries(checked.fieldPermissions)) {
    const expected = '{ read, write }, each "never" or an array of at least one role, and "once" for write';
    const advice = 'give for example { read: ["EDITOR"], write: "never" }';
    if (!isPermission(permission)) refuse(`fieldPermissions.${field}`, expected, JSON.stringify(permission), advice);
  }
  const { scope } = checked as { readonly scope?: Partial<Type> };
  if (isFunction(scope?.prototype?.scope))
    refuse('scope', 'a function or useScope(…)', 'a class', `write scope: useScope(${scope?.name})`);
  for (const operation of demanded) {
    const missing = missingOption(operation, checked);
    const advice = `set ${missing} or leave the operation out`;
    if (missing) refuse('operations', 'operations that the other options enable', `"${operation.name}"`, advice);
  }
  refuseCombinations(checked, { ...options }, named ?? possible, knownOperations, refuse);
  const enabled = (named ?? possible).filter((each) => possible.includes(each) && !missingOption(each, checked));
  const generated = new Set(enabled.map(({ name }) => name));
  const accessOf = resolveAccess(checked.access, of, knownOperations, standard, generated, refuse);
  const path = normaliseEndpoint(endpoint);
  const advice = 'Separate letters, digits and hyphens by slashes; a parameter is a whole level, such as `:shopId`';
  if (path === undefined) return refuse('endpoint', 'a path such as "/api/products"', describe(endpoint), advice);
  return Object.freeze({ ...checked, entity, endpoint: path, knownOperations, generated, accessOf });
}

export const refuseOption = ({ entity }: Pick<ResolvedCrudOptions, 'entity'>, ...refused: Parameters<Refuse>): never =>
  refuserOf('CRUD', ` of ${entity.name}`)(...refused);

export const fieldNames = (fields: readonly { readonly name: string }[]): string =>
  `fields among ${fields.map(({ name }) => name).join(', ')}`;

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
