/** What happens once for all generated controllers of an application when it starts. */
import { Logger } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { ConnectionQueues } from '../../database/connections.js';
import { CallerRoles } from '../../http/caller.js';
import { condense } from '../../options/condense.js';
import { describe, InvalidOptionError } from '../../options/invalid-option.js';
import { applicationOf, type Application } from '../../routes/application.js';
import { declaredRoute } from '../../routes/declared-route.js';
import { findFailureProviders } from '../../routes/failure-filter.js';
import type { Route } from '../../routes/route.js';
import { refuseCollisions } from '../../routes/route-collision.js';
import { installRequestContext, readBrokenEscapes } from '../../routes/request-middleware.js';
import { answerUnreadableBodies, deferUnreadableBodies } from '../../routes/unreadable-body.js';
import { optionsOf, OVERRIDE_NOTE } from '../declare/declared-options.js';
import { failureEnvelope } from '../declare/envelope.js';
import { refuseOption, rolesOf, type ResolvedCrudOptions } from '../declare/resolve-options.js';
import type { Resource } from '../plan/resource.js';
import { acceptUploads } from '../import/fastify-uploads.js';
import { describePaths } from '../store/record-store.js';
import { crudApplicationOf, type CrudApplication, type CrudControllerClass } from './crud-application.js';
import { bypassWarnings, findDeclarationWarnings, overridesOf, refuseRoutedHooks } from './declaration-warnings.js';
import type { Override } from './declaration-warnings.js';
import { describeWhenDocumented } from './describe-controllers.js';
import { hiddenMethods, pathsOf } from './routes.js';
import { longKeyWarnings, zoneWarnings } from './column-warnings.js';

const logger = new Logger('CrudModule');

/** Must be called before Nest registers middleware and routes. */
export function prepareAdapter(moduleRef: ModuleRef): void {
  const application = applicationOf(moduleRef);
  application.once(describeWhenDocumented, crudApplicationOf(moduleRef));
  application.whenAdapterIsReady((adapter) => {
    application.once(installRequestContext);
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
  findFailureProviders(application);
  crud.controllers.forEach(refuseRoutedHooks);
  const databases = crud.controllers.map((each) => crud.databaseOf(optionsOf(each) as ResolvedCrudOptions));
  await application.stateOf(ConnectionQueues).checkLimits(application.isStrict);
  for (const each of databases) await each.readColumns();
  crud.check();
  crud.all.forEach(assertIgnorable);
  if (crud.all.some(({ options }) => options.generated.has('import'))) acceptUploads(application);
  for (const { options } of crud.all)
    if (options.accessOf.size > 0 && application.adapter && !application.isGuarded) {
      const advice = 'Add AuthModule.forRoot({ … }) or AccessModule.forRoot({ … }) to the imports of the root module';
      refuseOption(options, 'access', 'used with AuthModule or AccessModule, which apply it', 'neither', advice);
    }
  const { ofOptions } = application.stateOf(CallerRoles);
  for (const { options } of crud.all) rolesOf(options).forEach((role) => ofOptions.add(role));
  for (const resource of crud.all) await prepareSearchIndex(resource);
  const unindexed = crud.all.filter(({ searchIndex, options }) => options.searchIndex && !searchIndex);
  const sentences = unindexed.map(({ options, database: { dataSource } }) => {
    const option = `CRUD option \`searchIndex\` of ${options.entity.name}`;
    return `${option} has no effect on ${dataSource.options.type}: searches read the whole table.`;
  });
  for (const sentence of [...condense(sentences), ...(await zoneWarnings(crud.all))]) logger.warn(sentence);
}

/** @throws InvalidOptionError for a parameter that a resource declares, such as a field of its search */
function assertIgnorable({ options, list, database: { ignoredParameters } }: Resource): void {
  const custom = options.knownOperations.flatMap(({ parameterNames = [] }) => parameterNames);
  const declared = [...list.searchable.keys(), ...custom].find((name) => ignoredParameters.has(name));
  if (declared === undefined) return;
  const expected = `names other than the parameters of ${options.endpoint}`;
  throw new InvalidOptionError('CrudModule option `ignoredParameters`', expected, describe(declared), 'leave it out');
}

/** @throws InvalidOptionError where the index of a search is missing, or cannot be created */
export async function prepareSearchIndex({ searchIndex, options, database }: Resource): Promise<void> {
  const { dataSource } = database;
  if (!options.searchIndex || !searchIndex) return;
  if (dataSource.options.synchronize === true) {
    try {
      for (const statement of searchIndex.statements) await dataSource.query(statement);
    } catch (cause) {
      const got = cause instanceof Error ? JSON.stringify(cause.message) : 'an error';
      const advice = 'let an administrator run CREATE EXTENSION pg_trgm on PostgreSQL; SQLite needs FTS5';
      refuseOption(options, 'searchIndex', 'used where the database can create the index', got, advice);
    }
  } else {
    const found = (await dataSource.query(searchIndex.lookup)) as readonly unknown[];
    if (found.length >= searchIndex.names.length) return;
    const advice = 'run `npx declarest schema <app module>` and put its statements into a migration';
    refuseOption(options, 'searchIndex', 'used with its index in the database', 'none', advice);
  }
}

/** Runs once for each application. @throws InvalidOptionError for routes that collide or have a further parameter */
export const finishStartup = (moduleRef: ModuleRef): void =>
  applicationOf(moduleRef).once(finish, crudApplicationOf(moduleRef));

function finish(application: Application, crud: CrudApplication): void {
  const { routes, isCaseSensitive } = application.routeTable;
  refuseCollisions(routes, isCaseSensitive);
  routes.forEach(refuseParameters);
  crud.isStarted = true;
  const { controllers, requestScoped } = crud;
  if (application.adapter?.getType() === 'express') requestScoped.forEach(refuseHiddenMethods);
  controllers.flatMap(overridesOf).forEach(logDescription);
  const doubts = [
    ...condense(controllers.flatMap(bypassWarnings)),
    ...longKeyWarnings(crud.all, application.routeTable),
  ];
  application.refuseDoubts(doubts);
  [...doubts, ...findDeclarationWarnings(controllers, crud.all, application)].forEach((each) => logger.warn(each));
  crud.prepareStores();
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

/** `ProductsController.findAll is overridden: Only what is in stock` */
function logDescription({ path, method }: Override): void {
  const description = Reflect.getMetadata(OVERRIDE_NOTE, method) as string | undefined;
  if (description !== undefined) logger.log(`${path} is overridden${description === '' ? '' : `: ${description}`}`);
}
