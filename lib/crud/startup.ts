/** What happens once for all generated controllers of an application when it starts. */
import { Logger } from '@nestjs/common';
import type { HttpAdapterHost, ModuleRef, ModulesContainer } from '@nestjs/core';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { readBrokenEscapes } from '../routes/broken-escapes.js';
import { refuseCollisions } from '../routes/route-collision.js';
import { routeTableOf, whenAdapterIsReady } from '../routes/route-tables.js';
import { answerUnreadableBodies, deferUnreadableBodies } from '../routes/unreadable-body.js';
import { prepareController, type ControllerClass } from './controller-preparation.js';
import { assertCompilable, declarationOf, operationsFor } from './declared-resources.js';
import type { ResolvedCrudOptions } from './crud-options.js';
import { failureEnvelope } from './envelope.js';
import { assertKnown } from './resource/resource.js';
import { describePaths } from './store/compilability.js';
import { describeOverrides, findOverrideWarnings, findUnpaginatedWarning } from './startup-checks.js';

/** Nest's providers that every module has. */
export interface Core {
  readonly host: HttpAdapterHost;
  readonly modules: ModulesContainer;
  readonly moduleRef: ModuleRef;
}

const logger = new Logger('CrudModule');

/** The applications for which a step is done: each generated controller and each `CrudModule` asks for it. */
const done = { checks: new WeakSet<object>(), report: new WeakSet<object>() };

function isFirst(step: keyof typeof done, { host, modules }: Core): boolean {
  // A second `compile()` of one testing module keeps the container, and has another adapter.
  const application = (host.httpAdapter as object | undefined) ?? modules;
  if (done[step].has(application)) return false;
  done[step].add(application);
  return true;
}

/** To be called before routes are registered. */
export function prepareControllers(modules: ModulesContainer): void {
  generatedControllers(modules).forEach(prepareController);
}

/** To be called before Nest registers middleware and routes. */
export function prepareAdapter(host: HttpAdapterHost): void {
  whenAdapterIsReady(host, (adapter) => {
    // Fastify reports only routes that are added from here on.
    routeTableOf(adapter);
    readBrokenEscapes(adapter);
    if (adapter.getType() === 'fastify') deferUnreadableBodies(adapter, 'own routes');
  });
}

/** @throws InvalidOptionError where a declaration does not fit its data source */
export function checkDeclarations(core: Core): void {
  if (!isFirst('checks', core)) return;
  answerUnreadableBodies(core.host, ({ message }) => failureEnvelope(message));
  for (const options of declarationsIn(core))
    assertCompilable(options, assertKnown(options, dataSourceOf(core, options)));
}

/** @throws InvalidOptionError where another route has the path of a generated one */
export function reportControllers(core: Core): void {
  if (!isFirst('report', core)) return;
  const { routes, reading } = routeTableOf(core.host.httpAdapter);
  refuseCollisions(routes, reading.caseSensitive);
  const controllers = generatedControllers(core.modules);
  for (const line of controllers.flatMap(describeOverrides)) logger.log(line);
  for (const line of controllers.flatMap(findOverrideWarnings)) logger.warn(line);
  const unpaginated = findUnpaginatedWarning(controllers);
  if (unpaginated !== undefined) logger.warn(unpaginated);
  if (!Logger.isLevelEnabled('debug')) return;
  for (const options of declarationsIn(core)) {
    const dataSource = assertKnown(options, dataSourceOf(core, options));
    const { store } = operationsFor(options, dataSource, dataSource.getRepository(options.entity));
    logger.debug(describePaths(options, store.reasons));
  }
}

function dataSourceOf({ moduleRef }: Core, { dataSource }: ResolvedCrudOptions): DataSource | undefined {
  try {
    return moduleRef.get<DataSource>(getDataSourceToken(dataSource) as string, { strict: false });
  } catch {
    return undefined;
  }
}

const declarationsIn = ({ modules }: Core): ReadonlySet<ResolvedCrudOptions> =>
  new Set(generatedControllers(modules).flatMap((controller) => declarationOf(controller) ?? []));

function generatedControllers(modules: ModulesContainer): ControllerClass[] {
  const classes = [...modules.values()].flatMap((module) =>
    [...module.controllers.values()].map(({ metatype }) => metatype as ControllerClass | null),
  );
  return [...new Set(classes)].filter(
    (controller): controller is ControllerClass => controller !== null && declarationOf(controller) !== undefined,
  );
}
