import { RequestMethod, VersioningType, type MiddlewareConsumer, type Type } from '@nestjs/common';
import { describe, InvalidOptionError, isClass } from '../options/invalid-option.js';
import type { ApplicationConfig } from '@nestjs/core';
import { declaredPaths, routedMethodsOf } from '../routes/controller-methods.js';
import type { RouteTable } from '../routes/route-table.js';
import { levelsOf } from '../routes/route.js';

export type RouteInfo = Extract<
  Parameters<ReturnType<MiddlewareConsumer['apply']>['forRoutes']>[number],
  { path: string }
>;
type Version = NonNullable<RouteInfo['version']>;

/** The paths that `routesOf` returned since an application took them. Nest creates its middleware after `configure()`. */
const returned: string[] = [];

/** Called by the middleware of the application that binds the paths. */
export const takeReturnedPaths = (): readonly string[] => returned.splice(0);

/**
 * The paths of a controller, or of one of its operations, for every method. Nest binds `forRoutes(Controller)` only to the
 * methods of its handlers, so that a preflight would never arrive.
 * @param operation the name of a method of the controller, such as `findAll`
 * @throws InvalidOptionError where there is no such route
 * @example consumer.apply(cors()).forRoutes(...routesOf(ProductsController, 'findAll'));
 */
export function routesOf(controller: Type<unknown>, operation?: string): RouteInfo[] {
  if (!isClass(controller) || !Reflect.hasMetadata('path', controller)) {
    const advice = 'Pass a class that is decorated with @Controller()';
    throw new InvalidOptionError('The first argument of routesOf', 'a controller class', describe(controller), advice);
  }
  const named = operation === undefined ? undefined : (controller.prototype as Record<string, unknown>)[operation];
  const methods = routedMethodsOf(controller).filter((method) => operation === undefined || method === named);
  if (methods.length === 0) {
    const [option, expected, got] =
      operation === undefined
        ? ['controller', 'a class with a route', 'a class without one']
        : ['operation', 'the name of a method that has a route', describe(operation)];
    const advice = 'Decorate a method with @Get() or another verb, or name one that is';
    throw new InvalidOptionError(`The ${option} of routesOf(${controller.name})`, expected, got, advice);
  }
  const routes = methods.flatMap((method) => routesOfMethod(controller, method));
  returned.push(...routes.map(({ path }) => path));
  return [...new Map(routes.map((route) => [JSON.stringify(route), route])).values()];
}

function routesOfMethod(controller: object, method: object): RouteInfo[] {
  // The key of Nest's `@Version()`, as `@nestjs/swagger` reads it.
  const versionOf = (target: object): unknown => Reflect.getMetadata('__version__', target);
  const versions = [versionOf(method) ?? versionOf(controller)].flat() as readonly (Version | undefined)[];
  return declaredPaths(controller, method).flatMap((path) =>
    versions.map((version) => ({ path, method: RequestMethod.ALL, ...(version !== undefined && { version }) })),
  );
}

/** @returns the paths that no route of the application has, with or without the global prefix and a URI version */
export function uncoveredPaths(paths: Iterable<string>, table: RouteTable, config: ApplicationConfig): string[] {
  const versioning = config.getVersioning();
  const version =
    versioning?.type === VersioningType.URI
      ? `(${literal(versioning.prefix === false ? '' : versioning.prefix || 'v')}[^/]+/)?`
      : '';
  const front = `(${literal(withSlash(config.getGlobalPrefix()))})?${version}`;
  const templates = table.controllerRoutes.map(({ path }) => withSlash(path));
  const isServed = (path: string): boolean => {
    const pattern = new RegExp(`^${front}${literal(withSlash(path))}$`);
    return templates.some((template) => pattern.test(template));
  };
  // The platforms write wildcards and optional levels in their own ways.
  return [...paths].filter((path) => !/[*{?(]/.test(path) && !isServed(path));
}

/** `/api/products` → `api/products/` */
const withSlash = (path: string): string => [...levelsOf(path), ''].join('/');

const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
