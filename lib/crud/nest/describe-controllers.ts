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
    for (const [controller, document] of await documentsOf(controllers, moduleRef))
      describeController(swagger, controller, document);
  } catch (error) {
    // The startup checks refuse the same declaration, in their order. Nothing else may stop a service that works.
    if (!(error instanceof InvalidOptionError))
      logger.error('The OpenAPI document has the routes of generated operations only.', inspect(error));
  }
}

async function documentsOf(controllers: readonly CrudControllerClass[], moduleRef: ModuleRef) {
  const refinementOf = await loadSchemaRefinements();
  controllers.forEach(prepareController);
  const declared = new Set(controllers.map((each) => optionsOf(each) as ResolvedCrudOptions));
  // The startup checks read the columns of its databases, which a document does not wait for.
  const unread = new CrudApplication(moduleRef);
  const resources = describeResources([...declared], (options) => unread.databaseOf(options), refinementOf);
  return new Map(
    controllers.map((each) => {
      const resource = resources.get(optionsOf(each) as ResolvedCrudOptions) as DescribedResource;
      return [each, documentOf(each, resource)];
    }),
  );
}

function documentOf({ prototype }: CrudControllerClass, resource: DescribedResource): ControllerDocument {
  const { endpoint, knownOperations } = resource.options;
  const routed = (knownOperations as readonly Operation[]).flatMap((operation) => {
    const method: unknown = Reflect.get(prototype as object, operation.name);
    return isRouted(method) ? [{ operation, path: `${endpoint}/${pathsOf(method)[0] ?? ''}` }] : [];
  });
  const bodies = routed.flatMap(({ operation: { description } }) =>
    typeof description.body === 'string' ? [description.body] : [],
  );
  return {
    tag: resource.names.tag,
    operations: new Map(
      routed.map(({ operation, path }) => {
        const parameters = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
        return [operation.name, describeOperation(operation, resource, parameters)];
      }),
    ),
    schemas: new Map([
      ...[FAILURE, REFUSAL, PAGINATION].map(({ name, schema }) => [name, schema] as const),
      ...[resource, ...reachableFrom(resource)].map((each) => [each.names.one, recordSchema(each)] as const),
      ...bodies.map((body) => [bodyName(resource, body), bodySchema(resource, body)] as const),
    ]),
  };
}
