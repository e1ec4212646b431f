/** What happens once for all generated controllers of an application when it starts. */
import { Logger } from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost, ModulesContainer, type ModuleRef } from '@nestjs/core';
import { describe, InvalidOptionError } from '../../options/invalid-option.js';
import { readBrokenEscapes } from '../../routes/broken-escapes.js';
import { declaredRoute } from '../../routes/declared-route.js';
import { parseMergePatches } from '../../routes/merge-patch-parser.js';
import type { Route } from '../../routes/route.js';
import { refuseCollisions } from '../../routes/route-collision.js';
import { routeTableOf, whenAdapterIsReady } from '../../routes/route-tables.js';
import { answerUnreadableBodies, deferUnreadableBodies } from '../../routes/unreadable-body.js';
import { failureEnvelope } from '../declare/envelope.js';
import { describePaths } from '../store/compilability.js';
import { crudApplicationOf, type CrudControllerClass } from './crud-application.js';
import { hiddenRoutes, pathsOf } from './routes.js';
import { prepareSearchIndex } from './search-indexes.js';
import { describeOverrides, findOverrideWarnings, findUnpaginatedWarning } from './startup-checks.js';

const logger = new Logger('CrudModule');

const hostOf = (moduleRef: ModuleRef): HttpAdapterHost => moduleRef.get(HttpAdapterHost, { strict: false });

/** The applications for which a step is done: each generated controller and each `CrudModule` asks for it. */
const done = { checks: new WeakSet<object>(), report: new WeakSet<object>() };

function isFirst(step: keyof typeof done, moduleRef: ModuleRef): boolean {
  // A second `compile()` of one testing module keeps the container, and has another adapter.
  const adapter = hostOf(moduleRef).httpAdapter as object | null | undefined;
  const application: object = adapter ?? moduleRef.get(ModulesContainer, { strict: false });
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
  routeTableOf(httpAdapter).beginRouting(moduleRef.get(ModulesContainer, { strict: false }));
  deferUnreadableBodies(httpAdapter, 'own routes');
}

/** @throws InvalidOptionError where a declaration does not fit its data source */
export async function checkDeclarations(moduleRef: ModuleRef): Promise<void> {
  if (!isFirst('checks', moduleRef)) return;
  const host = hostOf(moduleRef);
  answerUnreadableBodies(host, failureEnvelope);
  // Here, because main.ts may have registered a parser of its own before.
  if (host.httpAdapter?.getType() === 'fastify') parseMergePatches(host.httpAdapter);
  const application = crudApplicationOf(moduleRef);
  application.check();
  for (const resource of application.all) await prepareSearchIndex(resource);
}

/** The statements that create what generated operations need in the database beside the tables. */
export const schemaStatements = (moduleRef: Pick<ModuleRef, 'get'>): string[] => [
  ...new Set(crudApplicationOf(moduleRef).all.flatMap(({ searchIndex }) => searchIndex?.statements ?? [])),
];

/** @throws InvalidOptionError where another route has the path of a generated one, or that path has a parameter */
export function reportControllers(moduleRef: ModuleRef): void {
  if (!isFirst('report', moduleRef)) return;
  const { routes, reading } = routeTableOf(hostOf(moduleRef).httpAdapter);
  refuseCollisions(routes, reading.caseSensitive);
  for (const route of routes) refuseParameters(route);
  const application = crudApplicationOf(moduleRef);
  application.isStarted = true;
  const { controllers, requestScoped } = application;
  if (hostOf(moduleRef).httpAdapter?.getType() === 'express') requestScoped.forEach(refuseHiddenRoutes);
  for (const line of controllers.flatMap(describeOverrides)) logger.log(line);
  for (const line of controllers.flatMap(findOverrideWarnings)) logger.warn(line);
  const unpaginated = findUnpaginatedWarning(controllers);
  if (unpaginated !== undefined) logger.warn(unpaginated);
  if (!Logger.isLevelEnabled('debug')) return;
  for (const { options, database } of application.all) logger.debug(describePaths(options.entity, database.dataSource));
}

/** Express matches routes in the order of their methods, which cannot be changed where Nest creates no instance. */
function refuseHiddenRoutes(controller: CrudControllerClass): void {
  const [hidden] = hiddenRoutes(controller);
  if (hidden === undefined) return;
  const expected = 'in the order in which Express matches them, because the controller is request-scoped';
  const advice = `Override the operation above the route with the parameter: @Get("${hidden}") override ${hidden}(…)`;
  throw new InvalidOptionError(`The routes of ${controller.name}`, expected, `${hidden} behind a parameter`, advice);
}

/** `@Controller(':shop/products')` of a subclass, or a prefix with a parameter. The option `endpoint` checks its own. */
function refuseParameters({ path, handler }: Route): void {
  const declared = declaredRoute(handler);
  if (!handler || !declared?.controllerPath) return;
  const parametersIn = (text: string): number => text.split(/[:*]/).length - 1;
  const own = Math.max(...pathsOf(handler).map(parametersIn));
  if (parametersIn(path) <= own + parametersIn(declared.controllerPath)) return;
  const advice = 'Declare the parameter in `endpoint`, where it names a field: others do not restrict the records';
  throw new InvalidOptionError(declared.declaredBy, 'served without further parameters', describe(path), advice);
}
