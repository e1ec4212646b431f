/** What happens once for all generated controllers of an application when it starts. */
import { Logger } from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost, ModulesContainer, type ModuleRef } from '@nestjs/core';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { describe, InvalidOptionError } from '../options/invalid-option.js';
import { declaredRoute } from '../routes/declared-route.js';
import type { Route } from '../routes/route.js';
import { readBrokenEscapes } from '../routes/broken-escapes.js';
import { refuseCollisions } from '../routes/route-collision.js';
import { routeTableOf, whenAdapterIsReady } from '../routes/route-tables.js';
import { answerUnreadableBodies, deferUnreadableBodies } from '../routes/unreadable-body.js';
import { pathsOf, type CrudControllerClass } from './controller-preparation.js';
import { declarationOf, resourceFor } from './declared-resources.js';
import type { ResolvedCrudOptions } from './crud-options.js';
import { failureEnvelope } from './envelope.js';
import { assertKnown } from './resource/resource.js';
import { describePaths } from './store/compilability.js';
import { describeOverrides, findOverrideWarnings, findUnpaginatedWarning } from './startup-checks.js';

const logger = new Logger('CrudModule');

const hostOf = (moduleRef: ModuleRef): HttpAdapterHost => moduleRef.get(HttpAdapterHost, { strict: false });
const modulesOf = (moduleRef: ModuleRef): ModulesContainer => moduleRef.get(ModulesContainer, { strict: false });

/** The applications for which a step is done: each generated controller and each `CrudModule` asks for it. */
const done = { checks: new WeakSet<object>(), report: new WeakSet<object>() };

function isFirst(step: keyof typeof done, moduleRef: ModuleRef): boolean {
  // A second `compile()` of one testing module keeps the container, and has another adapter.
  const application = (hostOf(moduleRef).httpAdapter as object | undefined) ?? modulesOf(moduleRef);
  if (done[step].has(application)) return false;
  done[step].add(application);
  return true;
}

/** To be called before Nest registers middleware and routes. */
export function prepareAdapter(moduleRef: ModuleRef): void {
  whenAdapterIsReady(hostOf(moduleRef), (adapter) => {
    // Fastify reports only routes that are added from here on.
    routeTableOf(adapter, moduleRef.get(ApplicationConfig, { strict: false }));
    readBrokenEscapes(adapter);
    if (adapter.getType() === 'fastify') deferUnreadableBodies(adapter, 'own routes');
  });
}

/** To be called behind the body parser, before Nest registers routes. */
export function beginRouting(moduleRef: ModuleRef): void {
  const { httpAdapter } = hostOf(moduleRef);
  routeTableOf(httpAdapter).beginRouting(modulesOf(moduleRef));
  deferUnreadableBodies(httpAdapter, 'own routes');
}

/** @throws InvalidOptionError where a declaration does not fit its data source */
export function checkDeclarations(moduleRef: ModuleRef): void {
  if (!isFirst('checks', moduleRef)) return;
  answerUnreadableBodies(hostOf(moduleRef), failureEnvelope);
  for (const options of declarationsIn(moduleRef))
    resourceFor(options, assertKnown(options, dataSourceOf(moduleRef, options)));
}

/** @throws InvalidOptionError where another route has the path of a generated one, or that path has a parameter */
export function reportControllers(moduleRef: ModuleRef): void {
  if (!isFirst('report', moduleRef)) return;
  const { routes, reading } = routeTableOf(hostOf(moduleRef).httpAdapter);
  refuseCollisions(routes, reading.caseSensitive);
  for (const route of routes) refuseParameters(route);
  const controllers = generatedControllers(moduleRef);
  for (const line of controllers.flatMap(describeOverrides)) logger.log(line);
  for (const line of controllers.flatMap(findOverrideWarnings)) logger.warn(line);
  const unpaginated = findUnpaginatedWarning(controllers);
  if (unpaginated !== undefined) logger.warn(unpaginated);
  if (!Logger.isLevelEnabled('debug')) return;
  for (const options of declarationsIn(moduleRef))
    logger.debug(describePaths(options.entity, assertKnown(options, dataSourceOf(moduleRef, options))));
}

/** `@Controller(':shop/products')` of a subclass, or a prefix with a parameter. */
function refuseParameters({ path, handler }: Route): void {
  const declared = declaredRoute(handler);
  const parametersIn = (text: string): number => text.split(/[:*]/).length;
  if (!handler || !declared || declared.access || parametersIn(path) <= Math.max(...pathsOf(handler).map(parametersIn)))
    return;
  const advice = 'Remove the parameter: generated operations do not filter by it';
  throw new InvalidOptionError(declared.declaredBy, 'served at a path without parameters', describe(path), advice);
}

function dataSourceOf(moduleRef: ModuleRef, { dataSource }: ResolvedCrudOptions): DataSource | undefined {
  try {
    return moduleRef.get<DataSource>(getDataSourceToken(dataSource) as string, { strict: false });
  } catch {
    return undefined;
  }
}

const declarationsIn = (moduleRef: ModuleRef): ReadonlySet<ResolvedCrudOptions> =>
  new Set(generatedControllers(moduleRef).flatMap((controller) => declarationOf(controller) ?? []));

export function generatedControllers(moduleRef: ModuleRef): CrudControllerClass[] {
  const wrappers = [...modulesOf(moduleRef).values()].flatMap(({ controllers }) => [...controllers.values()]);
  const classes = new Set(wrappers.map(({ metatype }) => metatype as CrudControllerClass));
  return [...classes].filter((controller) => declarationOf(controller) !== undefined);
}
