/** Which controller method serves a route. Nest copies the metadata of a method onto the handler of the router. */
import { MetadataScanner, type ModulesContainer } from '@nestjs/core';
import { joinPaths } from './route.js';

export interface ControllerClass {
  readonly name: string;
  readonly prototype: object;
}

export interface ControllerMethod {
  readonly controller: ControllerClass;
  readonly method: object;
}

export const CONTROLLER_METHOD = Symbol('declarest.controllerMethod');
/** The key of `RouteConfig` of @nestjs/platform-fastify: Nest gives its value to Fastify as the route's `config`. */
const FASTIFY_ROUTE_CONFIG = '__fastify_route_config__';

/** Must be called before Nest registers the routes. */
export function markControllerMethod(method: object): void {
  // A decorator that wraps a method copies its metadata, this mark included.
  if (controllerMethodOf(method) === method) return;
  const config = Reflect.getMetadata(FASTIFY_ROUTE_CONFIG, method) as object | undefined;
  Reflect.defineMetadata(CONTROLLER_METHOD, method, method);
  Reflect.defineMetadata(FASTIFY_ROUTE_CONFIG, { ...config, [CONTROLLER_METHOD]: method }, method);
}

export const controllerMethodOf = (handler: object): object | undefined =>
  Reflect.getOwnMetadata(CONTROLLER_METHOD, handler) as object | undefined;

/** Every method with a route, of every controller; an inherited method once for each controller. */
export function controllerMethods(modules: ModulesContainer): ControllerMethod[] {
  const controllers = [...modules.values()].flatMap((module) =>
    [...module.controllers.values()].map(({ metatype }) => metatype as ControllerClass),
  );
  return [...new Set(controllers)].flatMap((controller) =>
    routedMethodsOf(controller).map((method) => ({ controller, method })),
  );
}

/** A subclass's method hides the one that it overrides. */
export function routedMethodsOf({ prototype }: ControllerClass): object[] {
  const names = new MetadataScanner().getAllMethodNames(prototype);
  const methods = names.map((name) => Reflect.get(prototype, name) as object);
  return methods.filter((method) => Reflect.hasMetadata('path', method));
}

/** The controllers of one method that serve a template: several only where they also share the end of their paths. */
export function controllersServing(template: string, shared: readonly ControllerMethod[]): ControllerClass[] {
  const fits = ({ controller, method }: ControllerMethod): boolean =>
    declaredPaths(controller, method).some((end) => template.endsWith(end));
  const fitting = shared.length > 1 ? shared.filter(fits) : [];
  return (fitting.length > 0 ? fitting : shared).map(({ controller }) => controller);
}

/** The paths of a method, without global prefix and version. */
export function declaredPaths(controller: object, method: object): string[] {
  const pathsOf = (target: object): string[] => [Reflect.getMetadata('path', target) as string | string[]].flat();
  return pathsOf(controller).flatMap((base) => pathsOf(method).map((end) => joinPaths(base, end)));
}
