/** Gives the methods of generated controllers their routes, parameters and interceptors. */
import { HttpCode, Param, RequestMapping, RequestMethod, UseInterceptors } from '@nestjs/common';
import { JsonBody, MergePatchBody } from '../../http/json-body.js';
import { holdsUsers } from '../../entities/entity-guard.js';
import { InvalidOptionError } from '../../options/invalid-option.js';
import { overlaps, shapesOf } from '../../routes/route.js';
import { declaredRoute, declareRoute } from '../../routes/declared-route.js';
import { mayHaveVersion, primaryColumns } from '../../entities/declared-entities.js';
import { isGeneratedClass, optionsOf } from '../declare/declared-options.js';
import type { OperationDeclaration } from '../declare/operations.js';
import type { ResolvedCrudOptions } from '../declare/resolve-options.js';
import { create } from '../operations/create.js';
import { RawQuery } from '../query/raw-query.js';
import type { CrudControllerClass } from './crud-application.js';
import { contextInterceptor } from './answer-headers.interceptor.js';

export type Method = (...args: unknown[]) => unknown;

export const isRouted = (method: unknown): method is Method =>
  typeof method === 'function' && Reflect.hasMetadata('path', method);

export const pathsOf = (method: object): string[] => [Reflect.getMetadata('path', method) as string | string[]].flat();

/** The decorator of each parameter, and its type, which pipes read. */
const PARAMETERS = {
  id: [Param('id'), String],
  query: [RawQuery(), Object],
  body: [JsonBody(), Object],
  patch: [MergePatchBody(), Object],
} as const;

/** Decorates the parameters of operations, for what extends the prototype. */
export function describeParameters(prototype: object, operations: readonly OperationDeclaration[]): void {
  for (const { name, route } of operations) {
    const parameters = route.takes.map((each) => PARAMETERS[each]);
    for (const [index, [decorate]] of parameters.entries()) decorate(prototype, name, index);
    // What TypeScript emits for a decorated method: pipes read the types of its parameters there.
    const types = parameters.map(([, type]) => type);
    Reflect.defineMetadata('design:paramtypes', types, prototype, name);
  }
}

export function addRoutes(prototype: object, options: ResolvedCrudOptions): void {
  for (const { name, route } of options.knownOperations) {
    if (!options.generated.has(name)) continue;
    const descriptor = Object.getOwnPropertyDescriptor(prototype, name) as PropertyDescriptor;
    RequestMapping({ path: route.path, method: RequestMethod[route.verb] })(prototype, name, descriptor);
    if (route.status) HttpCode(route.status)(prototype, name, descriptor);
  }
}

const HTTP_CODE = '__httpCode__';
const ROUTE_ARGUMENTS = '__routeArguments__';
const PREPARED = Symbol('declarest.prepared');

/** Before Nest registers the routes of a generated controller, or of a subclass of one. @throws InvalidOptionError */
export function prepareController(controller: CrudControllerClass): void {
  const options = optionsOf(controller);
  if (!options || Reflect.hasOwnMetadata(PREPARED, controller)) return;
  Reflect.defineMetadata(PREPARED, true, controller);
  if (!isGeneratedClass(controller)) {
    assertInjectable(controller);
    // `@Controller()` without a path, for a version for example, would move the subclass to `/`.
    if (Reflect.getMetadata('path', controller) === '/') Reflect.defineMetadata('path', options.endpoint, controller);
  }
  const generated = prototypesOf(controller).at(-1) as object;
  for (const [name, method] of routedMethods(controller)) {
    const operation = options.knownOperations.find((each) => each.name === name);
    const served = [operation, ...options.knownOperations].find((each) => each && serves(method, each));
    // What writes users may give them power.
    const isWrite = Reflect.getMetadata('method', method) !== RequestMethod.GET;
    const isPrepared = declaredRoute(method) !== undefined;
    declareRoute(method, {
      declaredBy: `CRUD option \`endpoint\` of ${options.entity.name}`,
      controllerPath: options.endpoint,
      reloadsUser: () => isWrite && holdsUsers(options.entity),
      operationAccess: options.accessOf.get(served?.name ?? name),
      ...(served && originalsOf(served, options)),
      ...(options.enableIdempotency && { needsUser: `enableIdempotency of ${options.entity.name}` }),
    });
    // An idempotent resource has an interceptor of its own.
    if (isPrepared || options.enableIdempotency) continue;
    const isOwn = method === Reflect.get(generated, name);
    if (!isOwn && operation) completeOverride(controller, operation, method);
    // A method of a subclass may call any operation.
    if (!isOwn || !operation || needsContext(operation, options))
      UseInterceptors(contextInterceptor(isCreation(method)))({}, '', { value: method });
  }
}

/** The routes whose rules should cover an operation too. PATCH is held against PUT for all controllers alike. */
function originalsOf({ route, copyOf, undoes }: OperationDeclaration, { knownOperations }: ResolvedCrudOptions) {
  const originals = knownOperations.filter(({ name }) => name === copyOf || name === undoes).map((each) => each.route);
  const others = originals.filter(({ path }) => path !== route.path);
  return { path: route.path, copyOf: others.map(({ verb, path }) => `${verb} ${path}`) };
}

/** What an override of an operation need not repeat: the status, and the name of the parameter in its own path. */
function completeOverride(controller: CrudControllerClass, operation: OperationDeclaration, method: Method): void {
  const { name, route } = operation;
  const { status, takes } = route;
  if (status && !Reflect.hasMetadata(HTTP_CODE, method)) HttpCode(status)({}, name, { value: method });
  const [parameter] = pathsOf(method).flatMap((path) => /:(\w+)/.exec(path)?.[1] ?? []);
  const index = takes.indexOf('id');
  const isDecorated = Reflect.hasOwnMetadata(ROUTE_ARGUMENTS, controller, name);
  if (index >= 0 && parameter !== undefined && parameter !== 'id' && !isDecorated)
    Param(parameter)(controller.prototype as object, name, index);
}

/** The positions of the parameters that have a decorator, inherited ones included. */
export function decoratedParameters(controller: CrudControllerClass, name: string): ReadonlySet<number> {
  const decorated = (Reflect.getMetadata(ROUTE_ARGUMENTS, controller, name) ?? {}) as Record<string, { index: number }>;
  return new Set(Object.values(decorated).map(({ index }) => index));
}

/** Whether a method serves the route of an operation, whatever its own name and that of its parameter. */
export function serves(method: object, { route: { verb, path } }: OperationDeclaration): boolean {
  if (Reflect.getMetadata('method', method) !== RequestMethod[verb]) return false;
  const withoutNames = (each: string): string => each.replaceAll(/^\/|\/$/g, '').replaceAll(/:\w+/g, ':');
  return pathsOf(method).some((each) => withoutNames(each) === withoutNames(path));
}

export const isCreation = (method: object): boolean => serves(method, create);

/** Whether an operation depends on more of the request than its parameters, or answers more than its body. */
function needsContext(
  { route: { verb, path }, needsRequest }: OperationDeclaration,
  options: ResolvedCrudOptions,
): boolean {
  if (verb !== 'GET' || needsRequest === 'always') return true;
  if (needsRequest === 'with a version' && mayHaveVersion(options.entity)) return true;
  const { scope, owner, fieldPermissions, endpoint, filterableFields, enablePagination } = options;
  if (needsRequest === 'with a total' && (enablePagination === true || enablePagination === 'both')) return true;
  const { deletedRoles, includableRelations, linkableRelations } = options;
  const names = [...Object.keys(fieldPermissions), ...deletedRoles, ...includableRelations, ...linkableRelations];
  return (
    (scope ?? owner) !== undefined ||
    names.length > 0 ||
    (filterableFields !== true && filterableFields.some((field) => field.includes('.'))) ||
    endpoint.includes(':') ||
    (path.includes(':id') && primaryColumns(options.entity).length > 1)
  );
}

export function prototypesOf(controller: CrudControllerClass): object[] {
  const parent = Object.getPrototypeOf(controller) as CrudControllerClass;
  return [controller.prototype as object, ...(isGeneratedClass(controller) ? [] : prototypesOf(parent))];
}

/** The methods with a route by their names, those of the subclass first. */
function routedMethods(controller: CrudControllerClass): ReadonlyMap<string, Method> {
  const methods = new Map<string, unknown>();
  for (const prototype of prototypesOf(controller))
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype)))
      if (name !== 'constructor' && !methods.has(name)) methods.set(name, value);
  return new Map([...methods].filter((each): each is [string, Method] => isRouted(each[1])));
}

/** TypeScript emits the types of a constructor's parameters only where the class itself is decorated. */
function assertInjectable(controller: CrudControllerClass): void {
  const hasTypes = ['design:paramtypes', 'self:paramtypes'].some((key) => Reflect.hasOwnMetadata(key, controller));
  if (controller.length > 0 && !hasTypes)
    throw new InvalidOptionError(
      `The constructor of ${controller.name}`,
      'one whose parameter types Nest can read',
      'a class without a decorator of its own, for which TypeScript emits none',
      'decorate the class with @Injectable()',
    );
}

/** The methods whose route is hidden by an earlier one with a parameter, as `:id` hides `search`. */
export function hiddenMethods(controller: CrudControllerClass): string[] {
  if (isGeneratedClass(controller)) return [];
  const methods = [...routedMethods(controller)];
  return methods.flatMap(([name, method], index) =>
    methods.slice(0, index).some(([, earlier]) => hides(earlier, method)) ? [name] : [],
  );
}

const hides = (earlier: Method, method: Method): boolean =>
  rankOf(earlier) > rankOf(method) &&
  Reflect.getMetadata('method', earlier) === Reflect.getMetadata('method', method) &&
  shapesOfMethod(earlier).some((wide) => shapesOfMethod(method).some((narrow) => overlaps(wide, narrow)));

const shapesOfMethod = (method: Method) => pathsOf(method).flatMap((path) => shapesOf(path));

/**
 * The prototype of the instances of a controller. Express matches routes in the order in which Nest finds the methods, a
 * subclass's first. Where a fixed path would be hidden, the prototype lists the methods in another order.
 */
export function prototypeInOrder(controller: CrudControllerClass): object {
  const prototype = controller.prototype as object;
  if (hiddenMethods(controller).length === 0) return prototype;
  const sorted = [...routedMethods(controller)].toSorted(([, a], [, b]) => rankOf(a) - rankOf(b));
  const properties = sorted.map(([name, value]) => [name, { value, writable: true, configurable: true }] as const);
  return Object.create(prototype, Object.fromEntries(properties)) as object;
}

const RANKS = [/^\/?[^:*/]/, /^\/?:/, /^\/?\*/];

const rankOf = (method: object): number =>
  Math.max(...pathsOf(method).map((path) => RANKS.findIndex((pattern) => pattern.test(path))));
