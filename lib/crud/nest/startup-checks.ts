/** Mistakes in generated controllers that would otherwise stay silent: one warning for each. */
import { RequestMethod } from '@nestjs/common';
import type { CrudControllerClass } from './crud-application.js';
import { isRouted, pathsOf, prototypesOf } from './routes.js';
import type { ResolvedCrudOptions } from '../declare/resolve-options.js';
import { overrideDescription } from '../declare/crud-override.js';
import { optionsOf } from '../declare/declared-options.js';
import { isGenerated, OPERATION_NAMES, OPERATIONS, type OperationName } from '../declare/operations.js';

/** Overridden operations with their methods. */
function overridesOf(controller: CrudControllerClass): [name: OperationName, method: object][] {
  const generated = prototypesOf(controller).at(-1) as object;
  return OPERATION_NAMES.flatMap((name) => {
    const method: unknown = Reflect.get(controller.prototype, name);
    const isOverride = typeof method === 'function' && method !== Reflect.get(generated, name);
    return isOverride ? [[name, method]] : [];
  });
}

/** `ProductsController.findAll is overridden: Only what is in stock` */
export function describeOverrides(controller: CrudControllerClass): string[] {
  return overridesOf(controller).flatMap(([name, method]) => {
    const description = overrideDescription(method);
    if (description === undefined) return [];
    return [`${controller.name}.${name} is overridden${description === '' ? '' : `: ${description}`}`];
  });
}

export function findOverrideWarnings(controller: CrudControllerClass): string[] {
  return overridesOf(controller).flatMap(([name, method]) => {
    const { verb, path } = OPERATIONS[name];
    const decorator = decoratorOf(verb, [path]);
    if (!isRouted(method))
      return [
        `${controller.name}.${name} overrides a generated operation but has no route. Decorate it with ${decorator}, or no request reaches it.`,
      ];
    const given: RequestMethod = Reflect.getMetadata('method', method) as RequestMethod;
    const paths = pathsOf(method);
    if (given === verb && paths.some((each) => pathWithoutNames(each) === pathWithoutNames(path))) return [];
    return [
      `${controller.name}.${name} overrides ${decorator} but is decorated with ${decoratorOf(given, paths)}, so that no generated route is left for ${name}. Use ${decorator}, or rename the method.`,
    ];
  });
}

/** The name of a parameter does not matter. */
const pathWithoutNames = (path: string): string => path.replaceAll(/^\/|\/$/g, '').replaceAll(/:\w+/g, ':');

/** `@Get()`, `@Put(':id')` */
function decoratorOf(verb: RequestMethod, paths: readonly string[]): string {
  const name = RequestMethod[verb];
  const args = paths.map((path) => (path === '/' ? '' : `'${path}'`)).join(', ');
  return `@${name.charAt(0)}${name.slice(1).toLowerCase()}(${paths.length > 1 ? `[${args}]` : args})`;
}

const isUnbounded = (options: ResolvedCrudOptions | undefined): boolean =>
  options !== undefined &&
  !options.enablePagination &&
  options.maxListSize === undefined &&
  (isGenerated('findAll', options) || isGenerated('search', options));

/** `undefined` where every list is paged or bounded. */
export function findUnpaginatedWarning(controllers: readonly CrudControllerClass[]): string | undefined {
  const endpoints = controllers
    .filter((controller) => isUnbounded(optionsOf(controller)))
    .flatMap((controller) => pathsOf(controller));
  if (endpoints.length === 0) return undefined;
  return `Unpaginated list endpoints: ${[...new Set(endpoints)].join(', ')}. Set enablePagination or maxListSize.`;
}
