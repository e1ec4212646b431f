/** Finds declarations of generated controllers without the effect that they seem to have, as sentences for the log. */
import { RequestMethod } from '@nestjs/common';
import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from '../../entities/column-types.js';
import { hasInsertListener } from '../../entities/entity-instances.js';
import { hiddenColumns, namesSecret, UnhiddenHashes } from '../../entities/entity-guard.js';
import type { Field } from '../../entities/entity-schema.js';
import { condense } from '../../options/condense.js';
import { InvalidOptionError } from '../../options/invalid-option.js';
import type { Application } from '../../routes/application.js';
import { declaredClasses, isGeneratedClass, optionsOf } from '../declare/declared-options.js';
import { HOOK_NAMES } from '../declare/generated-hooks.js';
import { CREATIONS, type OperationDeclaration } from '../declare/operations.js';
import { create } from '../operations/create.js';
import { followedRelations } from '../plan/list-parameters.js';
import type { Resource } from '../plan/resource.js';
import { inverseKey, isIndexed } from '../sql/foreign-keys.js';
import type { CrudControllerClass } from './crud-application.js';
import { decoratedParameters, isRouted, pathsOf, prototypesOf, serves } from './routes.js';

export interface Override {
  readonly path: string;
  readonly operation: OperationDeclaration;
  readonly method: object;
}

export function overridesOf(controller: CrudControllerClass): Override[] {
  const generated = prototypesOf(controller).at(-1) as object;
  return (optionsOf(controller)?.knownOperations ?? []).flatMap((operation) => {
    const { name } = operation;
    const method: unknown = Reflect.get(controller.prototype, name);
    const isOverride = typeof method === 'function' && method !== Reflect.get(generated, name);
    return isOverride ? [{ path: `${controller.name}.${name}`, operation, method }] : [];
  });
}

/** @throws InvalidOptionError for a hook that is the handler of a route */
export function refuseRoutedHooks(controller: CrudControllerClass): void {
  for (const name of HOOK_NAMES) {
    const method: unknown = Reflect.get(controller.prototype, name);
    if (!isRouted(method)) continue;
    const path = `${controller.name}.${name}`;
    throw new InvalidOptionError(path, 'a hook without a route', decoratorOfMethod(method), 'Remove the decorator');
  }
}

export function findDeclarationWarnings(
  controllers: readonly CrudControllerClass[],
  resources: readonly Resource[],
  application: Application,
): string[] {
  return [
    ...condense(controllers.flatMap(overridesOf).flatMap(routeWarnings)),
    ...condense(controllers.flatMap(parameterWarnings)),
    ...condense(controllers.flatMap(hookWarnings)),
    ...condense(unregisteredWarnings(controllers)),
    ...condense(controllers.flatMap((controller) => requiredWarnings(controller, resources))),
    ...condense(controllers.flatMap(schemaWarnings)),
    ...indexWarnings(resources),
    ...secretWarnings(resources),
    ...hashWarnings(resources, application.stateOf(UnhiddenHashes)),
    ...unpaginatedWarnings(controllers),
  ];
}

function routeWarnings({ path: overriding, operation, method }: Override): string[] {
  const { name, route } = operation;
  const decorator = decoratorOf(route.verb, [route.path]);
  if (!isRouted(method)) {
    const advice = `Decorate it with ${decorator}, or no request reaches it.`;
    return [`${overriding} overrides a generated operation but has no route. ${advice}`];
  }
  if (serves(method, operation)) return [];
  const problem = `is decorated with ${decoratorOfMethod(method)}, so that no generated route is left for ${name}`;
  return [`${overriding} overrides ${decorator} but ${problem}. Use ${decorator}, or rename the method.`];
}

/** Nest gives a parameter without a decorator no value. */
function parameterWarnings(controller: CrudControllerClass): string[] {
  return overridesOf(controller).flatMap(({ path, operation, method }) => {
    if (!isRouted(method)) return [];
    const decorated = decoratedParameters(controller, operation.name);
    const open = Array.from({ length: method.length }).findIndex((_, index) => !decorated.has(index));
    if (open < 0) return [];
    const problem = `${path} has a parameter without a decorator, number ${open + 1}, which no request sets`;
    return [`${problem}. Decorate it, for example with @CurrentUser().`];
  });
}

/** The class that an application wrote is not the one that serves its endpoint. */
function unregisteredWarnings(controllers: readonly CrudControllerClass[]): string[] {
  const roots = new Set(controllers.map((each) => prototypesOf(each).at(-1)));
  return controllers.flatMap((controller) => {
    const options = optionsOf(controller);
    if (!options || !isGeneratedClass(controller) || declaredClasses(options.entity).includes(controller)) return [];
    const { entity, endpoint } = options;
    const others = declaredClasses(entity).filter((each) => optionsOf(each)?.endpoint === endpoint);
    if (others.every((each) => roots.has((each as CrudControllerClass).prototype as object))) return [];
    const problem = `No module registers the class that extends CrudController({ entity: ${entity.name}, endpoint: "${endpoint}" })`;
    return [`${problem}, but its options are registered. Give CrudModule.forFeature the class instead.`];
  });
}

const decoratorOfMethod = (method: object): string =>
  decoratorOf(RequestMethod[Reflect.getMetadata('method', method) as RequestMethod], pathsOf(method));

function decoratorOf(verb: string, paths: readonly string[]): string {
  const args = paths.map((path) => (path === '/' ? '' : `'${path}'`)).join(', ');
  return `@${verb.charAt(0)}${verb.slice(1).toLowerCase()}(${paths.length > 1 ? `[${args}]` : args})`;
}

const KNOWN_METHODS = [...HOOK_NAMES, 'beforeApplicationShutdown'];

function hookWarnings(controller: CrudControllerClass): string[] {
  const methods = prototypesOf(controller).flatMap((each) => Object.entries(Object.getOwnPropertyDescriptors(each)));
  const similar = methods.filter(
    ([name, { value }]) => /^(before|when|after)[A-Z]/.test(name) && !KNOWN_METHODS.includes(name) && !isRouted(value),
  );
  return [...new Set(similar.map(([name]) => name))].map((name) => {
    const advice = `Use a hook (${HOOK_NAMES.join(', ')}), or rename the method`;
    return `${controller.name}.${name} is not a hook, so that no generated operation calls it. ${advice}.`;
  });
}

/** One line for the application, if there are any names. */
const listNames = (problem: string, names: readonly string[], advice: string): string[] =>
  names.length === 0 ? [] : [`${problem}: ${[...new Set(names)].join(', ')}. ${advice}.`];

function unpaginatedWarnings(controllers: readonly CrudControllerClass[]): string[] {
  const unbounded = controllers.filter((controller) => {
    const options = optionsOf(controller);
    if (!options || options.enablePagination || options.maxListSize !== undefined) return false;
    return options.generated.has('findAll') || options.generated.has('search');
  });
  return listNames('Unpaginated list endpoints', unbounded.flatMap(pathsOf), 'Set enablePagination or maxListSize');
}

const HOOKS = { POST: 'beforeCreate', PUT: 'beforeUpdate', PATCH: 'beforeUpdate', DELETE: 'beforeDelete' };

/** Where an override does not run for operations that clients may call instead. */
export function bypassWarnings(controller: CrudControllerClass): string[] {
  const { knownOperations = [], generated = new Set() } = optionsOf(controller) ?? {};
  const copiesOf = (name: string): string[] =>
    knownOperations.filter(({ copyOf }) => copyOf === name).flatMap((copy) => [copy.name, ...copiesOf(copy.name)]);
  const overrides = overridesOf(controller).filter(
    (each) => isRouted(each.method) && serves(each.method, each.operation),
  );
  return overrides.flatMap(({ path, operation }) => {
    const { name, route } = operation;
    const isOpen = (copy: string): boolean => !overrides.some((each) => each.operation.name === copy);
    const open = copiesOf(name).filter((copy) => generated.has(copy) && isOpen(copy));
    if (open.length === 0) return [];
    const advice = `Use ${route.verb === 'GET' ? 'a scope' : `the hook ${HOOKS[route.verb]}`}, override them too, or leave them out of \`operations\``;
    return [`${path} does not run for ${open.join(', ')}. ${advice}.`];
  });
}

/** Required columns that no client may write, and that nothing else sets as far as can be seen. */
function requiredWarnings(controller: CrudControllerClass, resources: readonly Resource[]): string[] {
  const resource = resources.find(({ options }) => options === optionsOf(controller));
  if (!resource || !CREATIONS.some((name) => resource.options.generated.has(name))) return [];
  const { metadata, schema, owner, pathParameters, fieldPermissions, database } = resource;
  const isSetByCode =
    typeof Reflect.get(controller.prototype, 'beforeCreate') === 'function' ||
    overridesOf(controller).some(({ operation }) => operation === create) ||
    hasInsertListener(metadata, database.dataSource);
  const missing = schema.fields.filter(
    (field) =>
      !(field.nullable || field.hasDefault || field === owner?.field || pathParameters.has(field.name)) &&
      field.insertable &&
      fieldPermissions.get(field)?.write === 'never',
  );
  if (isSetByCode || missing.length === 0) return [];
  const names = missing.map(({ name }) => `${schema.name}.${name}`).join(', ');
  const advice = 'Set it in beforeCreate, give the column a default, or leave create out of `operations`';
  return [`No POST to ${pathsOf(controller).join(', ')} can set the required ${names}. ${advice}.`];
}

function schemaWarnings(controller: CrudControllerClass): string[] {
  const options = optionsOf(controller);
  if (!options?.validationSchema.create || options.validationSchema.update) return [];
  const open = ['update', 'patch', 'patchMany'].filter((name) => options.generated.has(name));
  if (open.length === 0) return [];
  const advice = 'Give `update` a schema too, or leave them out of `operations`';
  return [`\`validationSchema\` of ${options.entity.name} does not check ${open.join(', ')}. ${advice}.`];
}

const nameOf = ({ entityMetadata, relationMetadata, propertyPath }: ColumnMetadata): string =>
  `${entityMetadata.name}.${relationMetadata?.propertyPath ?? propertyPath}`;

/** The columns that statements look records up by, without an index. */
function indexWarnings(resources: readonly Resource[]): string[] {
  const unindexed = resources.flatMap(({ list, owner, pathParameters, database }) => {
    const inverse = [...followedRelations(list).values()].flatMap(([relation]) => inverseKey(relation) ?? []);
    const fields = [...(owner?.reads ? [owner.field] : []), ...pathParameters.values()];
    const columns = [...inverse, ...fields.filter(({ column }) => !column.isPrimary).map(({ column }) => column)];
    return columns.filter((column) => !isIndexed(column, database.dataSource));
  });
  return listNames('Lookups by columns without an index', unindexed.map(nameOf), 'Decorate them with @Index()');
}

/** Leaves out `passwordSetAt`, and numbers such as `tokenCount` and `tokens`. */
function isSecret({ name, type: { comparison } }: Field): boolean {
  if (comparison?.endsWith('number')) return namesSecret(/([A-Z]?[a-z]*[a-rt-z]|[A-Z]+)\d*$/.exec(name)?.[0] ?? '');
  return [undefined, 'text', 'uuid'].includes(comparison) && namesSecret(name);
}

/** Columns that are called like secrets, of resources and of entities that they include. */
function secretWarnings(resources: readonly Resource[]): string[] {
  const served = new Set(resources.map(({ metadata }) => metadata));
  const shown = resources.flatMap(({ schema, fieldPermissions, list, database }) => [
    ...schema.fields.filter((field) => fieldPermissions.get(field)?.read === undefined),
    ...[...followedRelations(list).values()].flatMap(([{ inverseEntityMetadata: related }]) =>
      served.has(related) ? [] : database.describe(related).fields,
    ),
  ]);
  const secrets = shown.filter((field) => field.readable && !field.reference && isSecret(field));
  const names = secrets.map(({ column }) => nameOf(column));
  const advice = 'Give them `select: false` or @Exclude(), or `read` in fieldPermissions';
  return listNames('Columns that are called like secrets, and that clients read', names, advice);
}

const LOGIN_NAMES = ['email', 'username', 'login'];

/** Tables of users, of which no column is hidden: one may hold hashes. */
function hashWarnings(resources: readonly Resource[], unhidden: UnhiddenHashes): string[] {
  if (unhidden.repositoryClass === undefined) return [];
  const holdsUsers = ({ tablePath, propertiesMap }: EntityMetadata): boolean =>
    unhidden.tables.has(tablePath) || LOGIN_NAMES.some((name) => name in propertiesMap);
  const open = resources.flatMap(({ metadata, list, database: { dataSource } }) => {
    const related = [...followedRelations(list).values()].map(([relation]) => relation.inverseEntityMetadata);
    return [metadata, ...related].filter((each) => holdsUsers(each) && hiddenColumns(each, dataSource).size === 0);
  });
  const names = open.map(({ name }) => name);
  const advice = `Name the columns of ${unhidden.repositoryClass} with hashes in \`static hiddenColumns\``;
  return listNames('Entities with users of which no column is hidden, and that clients read', names, advice);
}
