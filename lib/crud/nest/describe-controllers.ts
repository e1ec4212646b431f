/** Describes the generated controllers of an application for @nestjs/swagger, where it is installed. */
import { inspect } from 'node:util';
import { Logger } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { describeController, loadSwagger } from '../../documents/describe-controller.js';
import { FAILURE, REFUSAL } from '../../documents/failures.js';
import type { ControllerDocument } from '../../documents/operation-document.js';
import { loadSchemaRefinements } from '../../entities/class-validation.js';
import { InvalidOptionError } from '../../options/invalid-option.js';
import { applicationOf } from '../../routes/application.js';
import { optionsOf } from '../declare/declared-options.js';
import type { ResolvedCrudOptions } from '../declare/resolve-options.js';
import { describeOperation } from '../document/describe-operation.js';
import { describeResources, reachableFrom, type DescribedResource } from '../document/described-resource.js';
import { bodyName, bodySchema, recordSchema } from '../document/record-schemas.js';
import { PAGINATION } from '../document/responses.js';
import type { Operation } from '../operations/operation.js';
import type { Database } from '../store/database.js';
import { CrudApplication, crudApplicationOf, type CrudControllerClass } from './crud-application.js';
import { isRouted, pathsOf, prepareController } from './routes.js';

const logger = new Logger('CrudModule');

/**
 * `createDocument` may be called before `app.init()`, so that the first provider that finds all data sources connected
 * describes the controllers. `app.init()` describes those that are in plain modules only.
 */
export async function describeOnce(moduleRef: ModuleRef): Promise<void> {
  const application = applicationOf(moduleRef);
  const crud = crudApplicationOf(moduleRef);
  const { controllers } = crud;
  const sources = controllers.map((each) => getDataSourceToken(optionsOf(each)?.dataSource) as typeof DataSource);
  if (crud.isDescribed || !sources.every((each) => application.providerOf(each))) return;
  crud.isDescribed = true;
  const swagger = await loadSwagger((sentence) => logger.warn(sentence));
  if (!swagger) return;
  try {
    controllers.forEach(prepareController);
    const declared = [...new Set(controllers.map((each) => optionsOf(each) as ResolvedCrudOptions))];
    // The startup checks read the columns of its databases, which a document does not wait for.
    const unread = new CrudApplication(moduleRef);
    const databaseOf = (options: ResolvedCrudOptions): Database => unread.databaseOf(options);
    const resources = describeResources(declared, databaseOf, await loadSchemaRefinements());
    const documents = controllers.map((each) => [each, documentOf(each, resources)] as const);
    for (const [controller, document] of documents) describeController(swagger, controller, document);
  } catch (error) {
    // The startup checks refuse the same declaration, in their order. Nothing else may stop a service that works.
    if (!(error instanceof InvalidOptionError))
      logger.error('The OpenAPI document has the routes of generated operations only.', inspect(error));
  }
}

function documentOf(
  controller: CrudControllerClass,
  resources: ReadonlyMap<unknown, DescribedResource>,
): ControllerDocument {
  const resource = resources.get(optionsOf(controller)) as DescribedResource;
  const { endpoint, knownOperations } = resource.options;
  const routed = (knownOperations as readonly Operation[]).flatMap((operation) => {
    const method: unknown = Reflect.get(controller.prototype as object, operation.name);
    return isRouted(method) ? [{ operation, path: `${endpoint}/${pathsOf(method)[0] ?? ''}` }] : [];
  });
  const bodies = routed.flatMap(
    ({
      operation: {
        description: { body },
      },
    }) => (typeof body === 'string' ? [body] : []),
  );
  const described = routed.map(
    ({ operation, path }) => [operation.name, describeOperation(operation, resource, path)] as const,
  );
  const schemas = [
    ...[FAILURE, REFUSAL, PAGINATION].map(({ name, schema }) => [name, schema] as const),
    ...[resource, ...reachableFrom(resource)].map((each) => [each.names.one, recordSchema(each)] as const),
    ...bodies.map((body) => [bodyName(resource, body), bodySchema(resource, body)] as const),
  ];
  return { tag: resource.names.tag, operations: new Map(described), schemas: new Map(schemas) };
}
