import { RequestMethod, type MiddlewareConsumer, type Type } from '@nestjs/common';
import { describe, InvalidOptionError, isClass } from '../options/invalid-option.js';
import type { RouteTable } from '../routes/route-table.js';

/** A path, method and version, as `forRoutes` takes them. */
export type RouteInfo = Extract<
  Parameters<ReturnType<MiddlewareConsumer['apply']>['forRoutes']>[number],
  { path: string }
>;
type Version = NonNullable<RouteInfo['version']>;

/** Paths that `routesOf` gave out; which of them an application bound is seen in its route table. */
const given = new Set<string>();

/**
 * The paths of a controller, or of one operation, for every method: Nest binds `forRoutes(Controller)` to the methods
 * of its handlers only, so that OPTIONS would never arrive.
 *
 * @param operation the name of a method of the controller, such as `findAll`
 * @throws InvalidOptionError where there is no such route
 */
export function routesOf(controller: Type<unknown>, operation?: string): RouteInfo[] {
  const bases = isClass(controller) ? metadata<string | string[]>('path', controller) : undefined;
  if (bases === undefined)
    throw new InvalidOptionError(
      'routesOf',
      'a controller class',
      describe(controller),
      'give a class that is decorated with @Controller()',
    );
  const routes = Object.entries(routedMethods(controller)).filter(
    ([name]) => operation === undefined || name === operation,
  );
  if (routes.length === 0)
    throw new InvalidOptionError(
      `routesOf(${controller.name})`,
      operation === undefined ? 'a controller with a route' : 'the name of a method that has a route',
      operation === undefined ? 'one without' : describe(operation),
      'decorate a method with @Get() or another verb, or name one that is',
    );
  const found = routes.flatMap(([, method]) => pathsOf(controller, bases, method));
  for (const { path } of found) given.add(path);
  return [...new Map(found.map((route) => [JSON.stringify(route), route])).values()];
}

function pathsOf(controller: object, bases: string | string[], method: object): RouteInfo[] {
  const version = metadata<Version>('__version__', method) ?? metadata<Version>('__version__', controller);
  const versions = (Array.isArray(version) ? version : [version]) as readonly (Version | undefined)[];
  return [bases].flat().flatMap((base) =>
    [metadata<string | string[]>('path', method) ?? '/'].flat().flatMap((end) =>
      versions.map((each) => ({
        path: `/${[base, end]
          .flatMap((part) => part.split('/'))
          .filter((level) => level !== '')
          .join('/')}`,
        method: RequestMethod.ALL,
        ...(each !== undefined && { version: each }),
      })),
    ),
  );
}

/** By name, a subclass's before its base's. */
function routedMethods(controller: Type<unknown>): Record<string, object> {
  const methods: Record<string, object> = {};
  for (
    let prototype = controller.prototype as object;
    prototype !== Object.prototype;
    prototype = Object.getPrototypeOf(prototype) as object
  )
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype)))
      if (typeof value === 'function') methods[name] ??= value as object;
  return Object.fromEntries(Object.entries(methods).filter(([, method]) => metadata('path', method) !== undefined));
}

/** The keys of Nest's own decorators, as `@nestjs/swagger` reads them. */
function metadata<T>(key: string, target: object): T | undefined {
  return Reflect.getMetadata(key, target) as T | undefined;
}

/** Bound paths of `routesOf` at which the application has no route. */
export function unservedGroups(table: RouteTable): string[] {
  const served = new Set(table.routes.map(({ path }) => path));
  return [...given].filter((path) => {
    const bound = table.middlewarePaths.filter((each) => each === path || each.endsWith(path));
    return bound.length > 0 && !bound.some((each) => served.has(each));
  });
}
