/** What happens once for all generated controllers of an application when it starts. */
import { Logger } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { describe, InvalidOptionError } from '../../options/invalid-option.js';
import { applicationOf, type Application } from '../../routes/application.js';
import { readBrokenEscapes } from '../../routes/broken-escapes.js';
import { declaredRoute } from '../../routes/declared-route.js';
import { parseMergePatches } from '../../routes/merge-patch-parser.js';
import type { Route } from '../../routes/route.js';
import { refuseCollisions } from '../../routes/route-collision.js';
import { answerUnreadableBodies, deferUnreadableBodies } from '../../routes/unreadable-body.js';
import { failureEnvelope } from '../declare/envelope.js';
import { describePaths } from '../store/compilability.js';
import { crudApplicationOf, type CrudApplication, type CrudControllerClass } from './crud-application.js';
import { hiddenMethods, pathsOf } from './routes.js';
import { prepareSearchIndex } from './search-indexes.js';
import { describeOverrides, findOverrideWarnings, findUnpaginatedWarning } from './startup-checks.js';

const logger = new Logger('CrudModule');

/** Must be called before Nest registers middleware and routes. */
export function prepareAdapter(moduleRef: ModuleRef): void {
  const application = applicationOf(moduleRef);
  application.whenAdapterIsReady((adapter) => {
    application.once(readBrokenEscapes);
    if (adapter.getType() === 'fastify') application.once(deferUnreadableBodies);
  });
}

/** Must be called behind the body parser, before Nest registers routes. */
export function beginRouting(moduleRef: ModuleRef): void {
  const application = applicationOf(moduleRef);
  application.beginRouting();
  application.once(deferUnreadableBodies);
}

/** Checks once for each application. @throws InvalidOptionError where a declaration does not fit its data source */
export const checkDeclarations = (moduleRef: ModuleRef): Promise<void> =>
  applicationOf(moduleRef).once(check, crudApplicationOf(moduleRef));

async function check(application: Application, crud: CrudApplication): Promise<void> {
  answerUnreadableBodies(application, failureEnvelope);
  // Here, because main.ts may have registered a parser of its own before.
  if (application.adapter?.getType() === 'fastify') application.once(parseMergePatches);
  crud.check();
  for (const resource of crud.all) await prepareSearchIndex(resource);
}

/** The statements that create what generated operations need in the database beside the tables. */
export const schemaStatements = (moduleRef: Pick<ModuleRef, 'get'>): string[] => [
  ...new Set(crudApplicationOf(moduleRef).all.flatMap(({ searchIndex }) => searchIndex?.statements ?? [])),
];

/** Reports once for each application. @throws InvalidOptionError for routes that collide or have a further parameter */
export const reportControllers = (moduleRef: ModuleRef): void =>
  applicationOf(moduleRef).once(report, crudApplicationOf(moduleRef));

function report({ routeTable, adapter }: Application, crud: CrudApplication): void {
  const { routes, routerOptions } = routeTable;
  refuseCollisions(routes, routerOptions.caseSensitive);
  for (const route of routes) refuseParameters(route);
  crud.isStarted = true;
  const { controllers, requestScoped } = crud;
  if (adapter?.getType() === 'express') requestScoped.forEach(refuseHiddenMethods);
  for (const line of controllers.flatMap(describeOverrides)) logger.log(line);
  for (const line of controllers.flatMap(findOverrideWarnings)) logger.warn(line);
  const unpaginated = findUnpaginatedWarning(controllers);
  if (unpaginated !== undefined) logger.warn(unpaginated);
  if (!Logger.isLevelEnabled('debug')) return;
  for (const { options, database } of crud.all) logger.debug(describePaths(options.entity, database.dataSource));
}

/** Express matches routes in the order of their methods, which cannot be changed where Nest creates no instance. */
function refuseHiddenMethods(controller: CrudControllerClass): void {
  const [hidden] = hiddenMethods(controller);
  if (hidden === undefined) return;
  const expected = 'in the order in which Express matches them, because the controller is request-scoped';
  const advice = `Override \`${hidden}\` with its decorator above the route with the parameter`;
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
