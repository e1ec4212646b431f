/** Describes the generated controllers of an application for @nestjs/swagger, where it is installed. */
import { inspect } from 'node:util';
import { Logger } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { describeController, loadSwagger, nameSchemaOf } from '../../documents/describe-controller.js';
import { refTo, type ControllerDocument, type OperationDocument } from '../../documents/operation-document.js';
import { loadSchemaRefinements } from '../../entities/class-validation.js';
import { InvalidOptionError } from '../../options/invalid-option.js';
import { applicationOf } from '../../routes/application.js';
import { optionsOf } from '../declare/declared-options.js';
import type { ResolvedCrudOptions } from '../declare/resolve-options.js';
import { describeOperation } from '../document/describe-operation.js';
import { describeResources, reachableFrom, type DescribedResource } from '../document/described-resource.js';
import { answerName, bodyName, bodySchema, recordSchema } from '../document/record-schemas.js';
import { CURSOR, envelopeOf, recordMetadata } from '../document/responses.js';
import type { Operation } from '../operations/operation.js';
import { crudApplicationOf, type CrudControllerClass } from './crud-application.js';
import { isRouted, pathsOf, prepareController } from './routes.js';

const logger = new Logger('CrudModule');

/**
 * `createDocument` may be called before `app.init()`, so that every `CrudModule.forFeature` has a provider that calls this
 * function. The first one that finds all data sources connected describes all controllers. Without `forFeature`,
 * `app.init()` describes them.
 */
export async function describeOnce(moduleRef: ModuleRef): Promise<void> {
  const application = applicationOf(moduleRef);
  const crud = crudApplicationOf(moduleRef);
  if (crud.isDescribed) return;
  const { controllers } = crud;
  const names = new Set(controllers.map((each) => optionsOf(each)?.dataSource));
  const sources = [...names].map((name) => application.providerOf(getDataSourceToken(name) as typeof DataSource));
  if (!sources.every(Boolean)) return;
  crud.isDescribed = true;
  const swagger = await loadSwagger((sentence) => logger.warn(sentence));
  if (!swagger) return;
  try {
    controllers.forEach(prepareController);
    const declared = [...new Set(controllers.map((each) => optionsOf(each) as ResolvedCrudOptions))];
    const resources = describeResources(declared, crud.unreadDatabases(), await loadSchemaRefinements());
    const documents = controllers.map((each) => {
      const resource = resources.get(optionsOf(each) as ResolvedCrudOptions) as DescribedResource;
      return [each, documentOf(each, resource)] as const;
    });
    for (const [controller, document] of documents) describeController(swagger, controller, document);
    const taken = new Set(documents.flatMap(([, { schemas }]) => [...schemas.keys()]));
    const described = new Set([...resources.values()].flatMap(reachableFrom).map(({ options }) => options.entity));
    for (const entity of described) nameSchemaOf(swagger, entity, taken);
  } catch (error) {
    // The startup checks refuse the same declaration, in their order. Nothing else may stop a service that works.
    if (!(error instanceof InvalidOptionError))
      logger.error('The OpenAPI document has the routes of generated operations only.', inspect(error));
  }
}

export function documentOf({ prototype }: CrudControllerClass, resource: DescribedResource): ControllerDocument {
  const { endpoint, knownOperations } = resource.options;
  const operations = new Map<string, OperationDocument>();
  const schemas = new Map([[CURSOR.name, CURSOR.schema]]);
  for (const each of reachableFrom(resource)) schemas.set(each.names.one, recordSchema(each));
  schemas.set(answerName(resource), envelopeOf(refTo(resource.names.one), recordMetadata(resource)));
  for (const operation of knownOperations as readonly Operation[]) {
    const method: unknown = Reflect.get(prototype as object, operation.name);
    if (!isRouted(method)) continue;
    const path = `${endpoint}/${pathsOf(method)[0] ?? ''}`;
    operations.set(operation.name, describeOperation(operation, resource, path));
    const { body } = operation.description;
    if (typeof body === 'string') schemas.set(bodyName(resource, body), bodySchema(resource, body));
  }
  return { tag: resource.names.tag, operations, schemas };
}
