import { RequestMethod, VersioningType, type MiddlewareConsumer, type Type } from '@nestjs/common';
import { describe, InvalidOptionError, isClass } from '../options/invalid-option.js';
import type { ApplicationConfig } from '@nestjs/core';
import { routedMethodsOf } from '../routes/controller-methods.js';
import type { RouteTable } from '../routes/route-table.js';

/** A path, method and version, as `forRoutes` takes them. */
export type RouteInfo = Extract<
  Parameters<ReturnType<MiddlewareConsumer['apply']>['forRoutes']>[number],
  { path: string }
>;
type Version = NonNullable<RouteInfo['version']>;

/** The paths that `routesOf` returned since an application took them. Nest creates its middleware after `configure()`. */
let returned: string[] = [];

/** Called by the middleware of the application that binds the paths. */
export function takeReturnedPaths(): readonly string[] {
  const paths = returned;
  returned = [];
  return paths;
}

/**
 * The paths of a controller, or of one of its operations, for every method. Nest binds `forRoutes(Controller)` only to the
 * methods of its handlers, so that a preflight would never arrive.
 *
 * @param operation the name of a method of the controller, such as `findAll`
 * @throws InvalidOptionError where there is no such route
 * @example
 * ```ts
 * consumer.apply(cors()).forRoutes(...routesOf(ProductsController, 'findAll'));
 * ```
 */
export function routesOf(controller: Type<unknown>, operation?: string): RouteInfo[] {
  const bases = isClass(controller) ? metadata<string | string[]>('path', controller) : undefined;
  if (bases === undefined)
    throw new InvalidOptionError(
      'The first argument of routesOf',
      'a controller class',
      describe(controller),
      'Pass a class that is decorated with @Controller()',
    );
  const named = operation === undefined ? undefined : (controller.prototype as Record<string, unknown>)[operation];
  const methods = routedMethodsOf(controller).filter((method) => operation === undefined || method === named);
  if (methods.length === 0)
    throw new InvalidOptionError(
      `The ${operation === undefined ? 'controller' : 'operation'} of routesOf(${controller.name})`,
      operation === undefined ? 'a class with a route' : 'the name of a method that has a route',
      operation === undefined ? 'a class without one' : describe(operation),
      'Decorate a method with @Get() or another verb, or name one that is',
    );
  const routes = methods.flatMap((method) => pathsOf(controller, bases, method));
  returned.push(...routes.map(({ path }) => path));
  return [...new Map(routes.map((route) => [JSON.stringify(route), route])).values()];
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

/** The keys of Nest's own decorators, as `@nestjs/swagger` reads them. */
function metadata<T>(key: string, target: object): T | undefined {
  return Reflect.getMetadata(key, target) as T | undefined;
}

/** Those of the paths that no route of the application has. */
export function uncoveredPaths(paths: Iterable<string>, table: RouteTable, config: ApplicationConfig): string[] {
  const isServed = compileIsServed(table, config);
  // The platforms write wildcards and optional levels in their own ways.
  return [...paths].filter((path) => !/[*{?(]/.test(path) && !isServed(path));
}

/** Whether a route has a path, with or without the global prefix and a URI version in front. */
function compileIsServed(table: RouteTable, config: ApplicationConfig): (path: string) => boolean {
  const levels = (path: string): string[] => path.split('/').filter((level) => level !== '');
  const prefix = levels(config.getGlobalPrefix());
  const versioning = config.getVersioning();
  const versionPrefix = versioning?.type === VersioningType.URI && (versioning.prefix ?? 'v');
  const templates = table.controllerRoutes.map(({ path }) => levels(path));
  return (path) => {
    const own = levels(path);
    return templates.some((template) => {
      const front = template.slice(0, Math.max(0, template.length - own.length));
      if (own.join('/') !== template.slice(front.length).join('/')) return false;
      const [version, ...more] =
        front.slice(0, prefix.length).join('/') === prefix.join('/') ? front.slice(prefix.length) : front;
      const isVersion =
        version === undefined || (versionPrefix !== false && version.startsWith(String(versionPrefix || '')));
      return isVersion && more.length === 0;
    });
  };
}
