/** Gives the methods of generated controllers their routes, parameters and interceptors. */
import { HttpCode, Param, RequestMapping, UseInterceptors, type Abstract, type Type } from '@nestjs/common';
import { getMetadataArgsStorage } from 'typeorm';
import { JsonBody, MergePatchBody } from '../../http/json-body.js';
import { InvalidOptionError } from '../../options/invalid-option.js';
import { overlaps, shapesOf } from '../../routes/route-shape.js';
import { declareRoute } from '../../routes/declared-route.js';
import { isGeneratedClass, optionsOf } from '../declare/declared-options.js';
import { isGenerated, OPERATION_NAMES, OPERATIONS, type Operation, type OperationName } from '../declare/operations.js';
import type { ResolvedCrudOptions } from '../declare/resolve-options.js';
import { RawQuery } from '../query/raw-query.js';
import { contextInterceptor, locationInterceptor } from './crud.interceptor.js';

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

/** Decorates the parameters of all operations, for what extends the prototype. */
export function describeParameters(prototype: object): void {
  for (const name of OPERATION_NAMES) {
    const parameters = OPERATIONS[name].parameters.map((each) => PARAMETERS[each]);
    for (const [index, [decorate]] of parameters.entries()) decorate(prototype, name, index);
    // What TypeScript emits for a decorated method: pipes read the types of its parameters there.
    Reflect.defineMetadata(
      'design:paramtypes',
      parameters.map(([, type]) => type),
      prototype,
      name,
    );
  }
}

export function addRoutes(prototype: object, options: ResolvedCrudOptions): void {
  for (const name of OPERATION_NAMES) {
    if (!isGenerated(name, options)) continue;
    const { path, verb, status }: Operation = OPERATIONS[name];
    const descriptor = Object.getOwnPropertyDescriptor(prototype, name) as PropertyDescriptor;
    RequestMapping({ path, method: verb })(prototype, name, descriptor);
    if (status) HttpCode(status)(prototype, name, descriptor);
  }
}

const PREPARED = Symbol('declarest.prepared');

/** Before Nest registers the routes of a generated controller, or of a subclass of one. @throws InvalidOptionError */
export function prepareController(controller: Abstract<object>): void {
  const options = optionsOf(controller);
  if (!options || Reflect.hasOwnMetadata(PREPARED, controller)) return;
  Reflect.defineMetadata(PREPARED, true, controller);
  if (!isGeneratedClass(controller)) {
    assertInjectable(controller);
    restoreEndpoint(controller, options);
  }
  const generated = prototypesOf(controller).at(-1) as object;
  for (const [name, method] of routedMethods(controller)) {
    const declaredBy = `CRUD option \`endpoint\` of ${options.entity.name}`;
    declareRoute(method, { declaredBy, controllerPath: options.endpoint });
    if (Reflect.hasOwnMetadata(PREPARED, method)) continue;
    Reflect.defineMetadata(PREPARED, true, method);
    const isOwn = method === Reflect.get(generated, name);
    decorate(method, options, isOwn ? (name as OperationName) : undefined);
  }
}

/** @param operation of a method that is generated; a method of a subclass may call any operation */
function decorate(method: Method, options: ResolvedCrudOptions, operation: OperationName | undefined): void {
  const descriptor = { value: method };
  // An idempotent resource has an interceptor of its own.
  if (options.idempotency) return;
  if (isCreation(method)) UseInterceptors(locationInterceptor)({}, '', descriptor);
  else if (!operation || needsContext(operation, options)) UseInterceptors(contextInterceptor)({}, '', descriptor);
}

/** Whether a method serves `POST {endpoint}` itself, whatever its name. */
export const isCreation = (method: object): boolean =>
  Reflect.getMetadata('method', method) === OPERATIONS.create.verb &&
  pathsOf(method).some((path) => /^\/?$/.test(path));

/** Options that do not depend on the caller. Where any other one is set, operations have to find their request. */
const INDEPENDENT: ReadonlySet<string> = new Set(
  (
    'aggregatableFields dataSource defaultSort enableBatch enableCount enableExists enableExport enablePagination ' +
    'enableRestore enableSearch entity maxBatchSize maxIncluded maxListSize operations requireIfMatch schema searchIndex ' +
    'searchableFields sortableFields'
  ).split(' '),
);

/** Whether an operation depends on more of the request than its parameters, or answers more than its body. */
function needsContext(name: OperationName, options: ResolvedCrudOptions): boolean {
  const { verb } = OPERATIONS[name];
  if (verb !== OPERATIONS.findAll.verb || name === 'export') return true;
  if (name === 'findById' && hasVersion(options.entity)) return true;
  const { endpoint, filterableFields, ...others } = options;
  const filtersRelations = filterableFields !== true && filterableFields.some((field) => field.includes('.'));
  const dependsOnCaller = Object.entries(others).some(([option, value]) => !INDEPENDENT.has(option) && isSet(value));
  return endpoint.includes(':') || filtersRelations || dependsOnCaller;
}

const isSet = (value: unknown): boolean =>
  typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : value !== undefined && value !== false;

/** Whether an entity may have a `@VersionColumn`: its classes, or an embedded object. */
const hasVersion = (entity: Type): boolean => {
  const { columns, embeddeds } = getMetadataArgsStorage();
  const isOf = (target: unknown): boolean =>
    typeof target === 'function' && (entity === target || entity.prototype instanceof target);
  return (
    columns.some(({ mode, target }) => mode === 'version' && isOf(target)) ||
    embeddeds.some(({ target }) => isOf(target))
  );
};

/** From the class itself up to the generated one, which is the last. */
export function prototypesOf(controller: Abstract<object>): object[] {
  const parent = Object.getPrototypeOf(controller) as Abstract<object>;
  return [controller.prototype as object, ...(isGeneratedClass(controller) ? [] : prototypesOf(parent))];
}

/** The methods with a route by their names, those of the subclass first. */
function routedMethods(controller: Abstract<object>): ReadonlyMap<string, Method> {
  const methods = new Map<string, unknown>();
  const descriptors = prototypesOf(controller).flatMap((each) =>
    Object.entries(Object.getOwnPropertyDescriptors(each)),
  );
  for (const [name, { value }] of descriptors)
    if (name !== 'constructor' && !methods.has(name)) methods.set(name, value);
  return new Map([...methods].filter((each): each is [string, Method] => isRouted(each[1])));
}

/** TypeScript emits the types of a constructor's parameters only where the class itself is decorated. */
function assertInjectable(controller: Abstract<object>): void {
  const hasTypes = ['design:paramtypes', 'self:paramtypes'].some((key) => Reflect.hasOwnMetadata(key, controller));
  if (controller.length > 0 && !hasTypes)
    throw new InvalidOptionError(
      `The constructor of ${controller.name}`,
      'one whose parameter types Nest can read',
      'a class without a decorator of its own, for which TypeScript emits none',
      'decorate the class with @Injectable()',
    );
}

/** `@Controller()` without a path, for a version for example, would move the subclass to `/`. */
function restoreEndpoint(controller: Abstract<object>, { endpoint }: ResolvedCrudOptions): void {
  if (Reflect.getMetadata('path', controller) === '/') Reflect.defineMetadata('path', endpoint, controller);
}

/** The methods whose route is hidden by an earlier one with a parameter, as `:id` hides `search`. */
export function hiddenMethods(controller: Abstract<object>): string[] {
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
export function prototypeInOrder(controller: Abstract<object>): object {
  if (hiddenMethods(controller).length === 0) return controller.prototype as object;
  const sorted = [...routedMethods(controller)].toSorted(([, a], [, b]) => rankOf(a) - rankOf(b));
  const properties = sorted.map(([name, value]) => [name, { value, writable: true, configurable: true }]);
  return Object.create(
    controller.prototype as object,
    Object.fromEntries(properties) as PropertyDescriptorMap,
  ) as object;
}

const RANKS = [/^\/?[^:*/]/, /^\/?:/, /^\/?\*/];

const rankOf = (method: object): number =>
  Math.max(...pathsOf(method).map((path) => RANKS.findIndex((pattern) => pattern.test(path))));
