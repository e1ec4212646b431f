/** Prepares a generated controller, or a subclass of one, before Nest registers its routes. */
import { UseInterceptors, type Abstract } from '@nestjs/common';
import { InvalidOptionError } from '../../options/invalid-option.js';
import { declareRoute } from '../../routes/declared-route.js';
import type { ResolvedCrudOptions } from '../declare/resolve-options.js';
import { declarationOf, isGenerated } from './declared-resources.js';
import { createsRecords, locationInterceptor } from './location.interceptor.js';

export type CrudControllerClass = Abstract<object>;
export type Method = (...args: unknown[]) => unknown;

export const isRouted = (method: unknown): method is Method =>
  typeof method === 'function' && Reflect.hasMetadata('path', method);

export const pathsOf = (method: object): string[] => [Reflect.getMetadata('path', method) as string | string[]].flat();

const prepared = new WeakSet<CrudControllerClass>();
const withLocation = new WeakSet<object>();

/** @throws InvalidOptionError */
export function prepareController(controller: CrudControllerClass): void {
  const options = declarationOf(controller);
  if (!options || prepared.has(controller)) return;
  prepared.add(controller);
  const prototypes = prototypesOf(controller);
  if (!isGenerated(controller)) {
    assertInjectable(controller);
    restoreEndpoint(controller, options);
    withdrawReplacedRoutes(prototypes);
    sortRoutes(prototypes);
  }
  for (const method of routedMethods(prototypes).values()) {
    const declaredBy = `CRUD option \`endpoint\` of ${options.entity.name}`;
    declareRoute(method, { declaredBy, controllerPath: options.endpoint });
    if (!createsRecords(method) || withLocation.has(method)) continue;
    withLocation.add(method);
    UseInterceptors(locationInterceptor)({}, '', { value: method });
  }
}

/** From the class itself up to the generated one, which is the last. */
export function prototypesOf(controller: CrudControllerClass): [object, ...object[]] {
  const parent = Object.getPrototypeOf(controller) as CrudControllerClass;
  return [controller.prototype, ...(isGenerated(controller) ? [] : prototypesOf(parent))];
}

/** The methods with a route by their names, those of the subclass first. */
function routedMethods(prototypes: readonly object[]): ReadonlyMap<string, Method> {
  const methods = new Map<string, unknown>();
  for (const [name, { value }] of prototypes.flatMap((each) => Object.entries(Object.getOwnPropertyDescriptors(each))))
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

/** `@Controller()` without a path, for a version for example, would move the subclass to `/`. */
function restoreEndpoint(controller: CrudControllerClass, { endpoint }: ResolvedCrudOptions): void {
  if (Reflect.getMetadata('path', controller) === '/') Reflect.defineMetadata('path', endpoint, controller);
}

/** Methods whose generated route a subclass serves by a method of another name. */
const withdrawn = new WeakSet<object>();
export const isWithdrawn = (method: object): boolean => withdrawn.has(method);

/** A generated route is not registered where a subclass gives its verb and path to a method of another name. */
function withdrawReplacedRoutes(prototypes: readonly [object, ...object[]]): void {
  const generated = routedMethods(prototypes.slice(-1));
  const inherits = ([name, method]: readonly [string, Method]): boolean => generated.get(name) === method;
  const routed = [...routedMethods(prototypes)];
  const taken = new Set(routed.filter((each) => !inherits(each)).map(([, method]) => routeKey(method)));
  for (const [name, method] of routed.filter(inherits)) {
    if (!taken.has(routeKey(method))) continue;
    const unrouted = function (this: unknown, ...args: unknown[]): unknown {
      return method.apply(this, args);
    };
    withdrawn.add(unrouted);
    Object.defineProperty(prototypes[0], name, { value: unrouted, writable: true, configurable: true });
  }
}

const routeKey = (method: object): string =>
  JSON.stringify(['method', 'path'].map((key) => Reflect.getMetadata(key, method) as unknown));

/**
 * Express matches routes in the order in which Nest finds the methods, a subclass's first. Paths that begin with a
 * parameter come last, so that `:id` hides neither `search` nor a path of the subclass.
 */
function sortRoutes(prototypes: readonly [object, ...object[]]): void {
  const [leaf] = prototypes;
  const routed = [...routedMethods(prototypes)];
  for (const [name, value] of routed.toSorted(([, a], [, b]) => rankOf(a) - rankOf(b))) {
    Reflect.deleteProperty(leaf, name);
    Object.defineProperty(leaf, name, { value, writable: true, configurable: true });
  }
}

const RANKS = [/^\/?[^:*/]/, /^\/?:/, /^\/?\*/];

const rankOf = (method: object): number =>
  Math.max(...pathsOf(method).map((path) => RANKS.findIndex((pattern) => pattern.test(path))));
