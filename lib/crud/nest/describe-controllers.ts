/** Describes the generated controllers of an application for @nestjs/swagger, where it is installed. */
import { inspect } from 'node:util';
import { Logger, type Type } from '@nestjs/common';
import { describeController, Descriptions, SCHEMA } from '../../documents/describe-controller.js';
import { refTo, type ControllerDocument, type OperationDocument } from '../../documents/operation-document.js';
import { schemaRefinements } from '../../entities/class-validation.js';
import { InvalidOptionError } from '../../options/invalid-option.js';
import type { Application } from '../../routes/application.js';
import { optionsOf } from '../declare/declared-options.js';
import type { ResolvedCrudOptions } from '../declare/resolve-options.js';
import { describeOperation } from '../document/describe-operation.js';
import { describeResources, reachableFrom, type DescribedResource } from '../document/described-resource.js';
import { answerName, bodyName, bodySchema, recordSchema } from '../document/record-schemas.js';
import { CURSOR, envelopeOf, recordMetadata } from '../document/responses.js';
import type { Operation } from '../operations/operation.js';
import type { CrudApplication, CrudControllerClass } from './crud-application.js';
import { isRouted, pathsOf, prepareController } from './routes.js';

const logger = new Logger('CrudModule');

/** `createDocument` may be called before `app.init()`, and read first a controller that names an entity. */
export function describeWhenDocumented(application: Application, crud: CrudApplication): void {
  const classes = crud.wrappers.map(({ metatype }) => metatype as object);
  application.stateOf(Descriptions).add(logger, classes, () => {
    try {
      describeAll(crud);
    } catch (error) {
      // The startup checks refuse the same declaration, in their order. Nothing else may stop a service that works.
      if (!(error instanceof InvalidOptionError))
        logger.error('The OpenAPI document has the routes of generated operations only.', inspect(error));
    }
  });
}

function describeAll(crud: CrudApplication): void {
  const { controllers } = crud;
  controllers.forEach(prepareController);
  const declared = [...new Set(controllers.map((each) => optionsOf(each) as ResolvedCrudOptions))];
  const resources = describeResources(declared, crud.unreadDatabases(), schemaRefinements());
  const taken = new Set<string>();
  for (const controller of controllers) {
    const resource = resources.get(optionsOf(controller) as ResolvedCrudOptions) as DescribedResource;
    const document = documentOf(controller, resource);
    describeController(controller, document);
    for (const name of document.schemas.keys()) taken.add(name);
  }
  const described = new Set([...resources.values()].flatMap(reachableFrom).map(({ options }) => options.entity));
  for (const entity of described) nameSchemaOf(entity, taken);
}

/** Names the schema of an entity, by which an application may describe its own routes, unlike that of generated answers. */
function nameSchemaOf(entity: Type, taken: Set<string>): void {
  const schemas = (Reflect.getOwnMetadata(SCHEMA, entity) ?? []) as readonly { readonly name?: string }[];
  const own = { name: entity.name, ...schemas.at(-1) };
  let { name } = own;
  while (taken.has(name)) name += 'Entity';
  if (name !== own.name) Reflect.defineMetadata(SCHEMA, [...schemas, { ...own, name }], entity);
  taken.add(name);
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
