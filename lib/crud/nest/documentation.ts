/** Describes the generated controllers of an application for @nestjs/swagger, where it is installed. */
import { inspect } from 'node:util';
import { Logger } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { DataSources } from '../../database/connections.js';
import { describeController, loadSwagger } from '../../documents/describe-controller.js';
import { InvalidOptionError } from '../../options/invalid-option.js';
import { applicationOf } from '../../routes/application.js';
import { optionsOf } from '../declare/declared-options.js';
import type { ResolvedCrudOptions } from '../declare/resolve-options.js';
import { describeResources } from '../document/described-resource.js';
import { describeControllers } from '../document/documents.js';
import type { Operation } from '../operations/operation.js';
import { Database } from '../store/database.js';
import { crudApplicationOf, type CrudApplication, type CrudControllerClass } from './crud-application.js';
import { isRouted, pathsOf, prepareController } from './routes.js';

const logger = new Logger('CrudModule');

class Documentation {
  connected = 0;
  isDone = false;
}

/**
 * `createDocument` may be called before `app.init()`, so that providers describe the controllers: the last one of those
 * that wait for the data sources of a `CrudModule.forFeature`.
 * @param modules how many of them there are
 */
export async function describeWhenConnected(moduleRef: ModuleRef, modules: number): Promise<void> {
  const documentation = applicationOf(moduleRef).stateOf(Documentation);
  documentation.connected += 1;
  if (documentation.connected === modules) await describeOnce(moduleRef);
}

/** Also for controllers in plain modules only, which `app.init()` describes. */
export async function describeOnce(moduleRef: ModuleRef): Promise<void> {
  const documentation = applicationOf(moduleRef).stateOf(Documentation);
  if (documentation.isDone) return;
  documentation.isDone = true;
  const swagger = await loadSwagger((sentence) => logger.warn(sentence));
  if (!swagger) return;
  const crud = crudApplicationOf(moduleRef);
  const { controllers } = crud;
  controllers.forEach(prepareController);
  const documents = await documentsOf(controllers, crud, moduleRef).catch((error: unknown) => {
    // The startup checks refuse the same declaration, in their order. Nothing else may stop a service that works.
    if (!(error instanceof InvalidOptionError))
      logger.error('The OpenAPI document has the routes of generated operations only.', inspect(error));
    return [];
  });
  for (const [index, document] of documents.entries()) {
    const controller = controllers[index] as CrudControllerClass;
    const { prototype } = controller;
    const methods = new Map(
      [...document.operations.keys()].map((name) => [name, Reflect.get(prototype as object, name) as object]),
    );
    describeController(swagger, controller, methods, document);
  }
}

async function documentsOf(controllers: readonly CrudControllerClass[], crud: CrudApplication, moduleRef: ModuleRef) {
  const sources = applicationOf(moduleRef).stateOf(DataSources);
  const all = [...new Set(controllers.map((controller) => optionsOf(controller) as ResolvedCrudOptions))];
  const databases = new Map<object, Database>();
  const databaseOf = (options: ResolvedCrudOptions): Database => {
    const { dataSource } = crud.databaseOf(options);
    const known =
      databases.get(dataSource) ??
      new Database(dataSource, sources.connectionsOf(dataSource), undefined, crud.operators);
    databases.set(dataSource, known);
    return known;
  };
  const resources = describeResources(all, databaseOf);
  return describeControllers(
    controllers.map((controller) => {
      const index = all.indexOf(optionsOf(controller) as ResolvedCrudOptions);
      const resource = resources[index] as (typeof resources)[number];
      return { resource, operations: routedOperations(controller, resource.options) };
    }),
  );
}

/** The operations with a route, and the names of the parameters in its path. */
function routedOperations({ prototype }: CrudControllerClass, { endpoint, knownOperations }: ResolvedCrudOptions) {
  const operations = new Map<Operation, readonly string[]>();
  for (const operation of knownOperations as readonly Operation[]) {
    const method: unknown = Reflect.get(prototype as object, operation.name);
    if (!isRouted(method)) continue;
    const path = `${endpoint}/${pathsOf(method)[0] ?? ''}`;
    operations.set(
      operation,
      [...path.matchAll(/:(\w+)/g)].map(([, parameter = '']) => parameter),
    );
  }
  return operations;
}
