/** What happens once for all generated controllers of an application when it starts. */
import { Logger } from '@nestjs/common';
import { HttpAdapterHost, ModulesContainer, type ModuleRef } from '@nestjs/core';
import { getDataSourceToken, getRepositoryToken } from '@nestjs/typeorm';
import type { DataSource, Repository } from 'typeorm';
import { describe, InvalidOptionError } from '../options/invalid-option.js';
import { declaredRoute } from '../routes/declared-route.js';
import type { Route } from '../routes/route.js';
import { readBrokenEscapes } from '../routes/broken-escapes.js';
import { refuseCollisions } from '../routes/route-collision.js';
import { parseMergePatches } from '../routes/merge-patch-parser.js';
import { applicationOf } from '../routes/application.js';
import { answerUnreadableBodies, deferUnreadableBodies } from '../routes/unreadable-body.js';
import { pathsOf, type CrudControllerClass } from './controller-preparation.js';
import { declarationOf, resourceFor } from './declared-resources.js';
import type { ResolvedCrudOptions } from './resolve-options.js';
import { failureEnvelope } from './envelope.js';
import { REPOSITORY, type InjectedMembers } from './injected-members.js';
import { ResourceRegistry, type RegisteredResource } from './resource-registry.js';
import { prepareSearchIndex } from './search-indexes.js';
import { assertKnown } from './resource/resource.js';
import { describePaths } from './store/compilability.js';
import { describeOverrides, findOverrideWarnings, findUnpaginatedWarning } from './startup-checks.js';

const logger = new Logger('CrudModule');

const hostOf = (moduleRef: ModuleRef): HttpAdapterHost => moduleRef.get(HttpAdapterHost, { strict: false });
const modulesOf = (moduleRef: Pick<ModuleRef, 'get'>): ModulesContainer =>
  moduleRef.get(ModulesContainer, { strict: false });

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
  const application = applicationOf(moduleRef);
  application.whenAdapterIsReady((adapter) => {
    // Fastify reports only routes that are added from here on.
    application.once(readBrokenEscapes);
    if (adapter.getType() === 'fastify') application.once(deferUnreadableBodies);
  });
}

/** To be called behind the body parser, before Nest registers routes. */
export function beginRouting(moduleRef: ModuleRef): void {
  const application = applicationOf(moduleRef);
  application.beginRouting();
  application.once(deferUnreadableBodies);
}

/** @throws InvalidOptionError where a declaration does not fit its data source */
export async function checkDeclarations(moduleRef: ModuleRef): Promise<void> {
  if (!isFirst('checks', moduleRef)) return;
  const application = applicationOf(moduleRef);
  answerUnreadableBodies(application, failureEnvelope);
  // Here, because main.ts may have registered a parser of its own before.
  if (application.adapter?.getType() === 'fastify') application.once(parseMergePatches);
  const registered = registeredIn(moduleRef);
  const registry = new ResourceRegistry(registered, moduleRef);
  registries.set(modulesOf(moduleRef), registry);
  for (const each of registered) registry.check(each);
  for (const { resource, dataSource } of resourcesIn(moduleRef)) await prepareSearchIndex(resource, dataSource);
}

/** By application, because two of them in one process have resources of their own. */
const registries = new WeakMap<ModulesContainer, ResourceRegistry>();

/** A provider may call a controller before the startup checks. */
export function registryOf(moduleRef: ModuleRef): ResourceRegistry {
  const modules = modulesOf(moduleRef);
  const registry = registries.get(modules) ?? new ResourceRegistry(registeredIn(moduleRef), moduleRef);
  registries.set(modules, registry);
  return registry;
}

/** @throws InvalidOptionError where a declaration does not fit its data source */
const registeredIn = (moduleRef: ModuleRef): RegisteredResource[] =>
  [...declarationsIn(moduleRef)].map((options) => {
    const dataSource = assertKnown(options, dataSourceOf(moduleRef, options));
    resourceFor(options, dataSource, moduleRef);
    return { options, dataSource, repository: repositoryOf(moduleRef, options, dataSource) };
  });

/** The one that Nest injected into the controller, or would inject into a request-scoped one. */
function repositoryOf(
  moduleRef: ModuleRef,
  options: ResolvedCrudOptions,
  dataSource: DataSource,
): Repository<object> | undefined {
  const wrappers = controllersIn(moduleRef).filter(({ metatype }) => declarationOf(metatype as object) === options);
  const isStatic = wrappers.find((each) => each.isDependencyTreeStatic());
  if (isStatic) return (isStatic.instance as InjectedMembers)[REPOSITORY] ?? dataSource.getRepository(options.entity);
  const token = getRepositoryToken(options.entity, options.dataSource) as string;
  const isProvided = [...modulesOf(moduleRef).values()].some(({ providers }) => providers.has(token));
  if (!isProvided) return dataSource.getRepository(options.entity);
  try {
    return moduleRef.get<Repository<object>>(token, { strict: false });
  } catch {
    return undefined;
  }
}

/** The statements that create what generated operations need in the database beside the tables. */
export function schemaStatements(moduleRef: Pick<ModuleRef, 'get'>): string[] {
  return [...new Set(resourcesIn(moduleRef).flatMap(({ resource }) => resource.searchIndex?.statements ?? []))];
}

/** @throws InvalidOptionError where a declaration does not fit its data source */
const resourcesIn = (moduleRef: Pick<ModuleRef, 'get'>) =>
  [...declarationsIn(moduleRef)].map((options) => {
    const dataSource = assertKnown(options, dataSourceOf(moduleRef, options));
    return { resource: resourceFor(options, dataSource, moduleRef), dataSource };
  });

/** @throws InvalidOptionError where another route has the path of a generated one, or that path has a parameter */
export function reportControllers(moduleRef: ModuleRef): void {
  if (!isFirst('report', moduleRef)) return;
  const { routes, routerOptions } = applicationOf(moduleRef).routeTable;
  refuseCollisions(routes, routerOptions.caseSensitive);
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

function dataSourceOf(moduleRef: Pick<ModuleRef, 'get'>, { dataSource }: ResolvedCrudOptions): DataSource | undefined {
  try {
    return moduleRef.get<DataSource>(getDataSourceToken(dataSource) as string, { strict: false });
  } catch {
    return undefined;
  }
}

const declarationsIn = (moduleRef: Pick<ModuleRef, 'get'>): ReadonlySet<ResolvedCrudOptions> =>
  new Set(generatedControllers(moduleRef).flatMap((controller) => declarationOf(controller) ?? []));

const controllersIn = (moduleRef: Pick<ModuleRef, 'get'>) =>
  [...modulesOf(moduleRef).values()].flatMap(({ controllers }) => [...controllers.values()]);

export function generatedControllers(moduleRef: Pick<ModuleRef, 'get'>): CrudControllerClass[] {
  const classes = new Set(controllersIn(moduleRef).map(({ metatype }) => metatype as CrudControllerClass));
  return [...classes].filter((controller) => declarationOf(controller) !== undefined);
}
