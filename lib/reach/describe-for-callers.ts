/** What each caller may send to generated operations, and gets: for tools of agents. */
import type { ModuleRef } from '@nestjs/core';
import { AccessRules } from '../access/access-rules.js';
import { crudApplicationOf } from '../crud/nest/crud-application.js';
import { documentOf } from '../crud/nest/describe-controllers.js';
import { describeForCaller, describeResources, reachableFrom } from '../crud/document/described-resource.js';
import type { DescribedResource } from '../crud/document/described-resource.js';
import type { OperationDocument, ParameterDocument } from '../documents/operation-document.js';
import { loadSchemaRefinements } from '../entities/class-validation.js';
import type { JsonSchema } from '../entities/json-schema.js';
import type { HttpRequest } from '../http/http-request.js';
import { InvalidOptionError } from '../options/invalid-option.js';
import { applicationOf } from '../routes/application.js';
import { generatedRoutes } from './generated-routes.js';

/** A generated operation as the OpenAPI document has it, and how its parameters differ for a caller. */
export interface CallerOperation {
  /** The tag of its resource: `Products`. */
  readonly resource: string;
  /** `findAll` */
  readonly name: string;
  readonly method: string;
  /** `/api/products/:id` */
  readonly path: string;
  /** By the names of parameters of which the caller may send other values; `undefined` where he may send none. */
  readonly parameters: ReadonlyMap<string, JsonSchema | undefined>;
}

export interface CallerDocument {
  readonly operations: readonly CallerOperation[];
  /** The schemas of records and bodies by their names in the OpenAPI document. */
  readonly schemas: ReadonlyMap<string, JsonSchema>;
}

/**
 * Describes generated operations for each caller: by the roles of a request, with the fields that `fieldPermissions`, `owner`
 * and `deletedRoles` let it read and write. It says nothing of access rules, which {@link AccessReport} has.
 * @param moduleRef of an application that has started
 * @throws InvalidOptionError before its start, and without `AuthModule` and `AccessModule`
 * @example
 * const describe = await describeForCallers(moduleRef);
 * const { schemas } = describe(request);
 */
export async function describeForCallers(moduleRef: ModuleRef): Promise<(request: HttpRequest) => CallerDocument> {
  const compiled = applicationOf(moduleRef).providerOf(AccessRules)?.compiled;
  if (!compiled) {
    const [expected, advice] = ['an application with access rules that has started', 'call it after `app.init()`'];
    throw new InvalidOptionError('The argument of describeForCallers()', expected, 'another one', advice);
  }
  const routes = generatedRoutes({ get: () => moduleRef }, compiled);
  const plans = new Map(routes.plans.map((plan) => [plan.options, plan]));
  const refine = await loadSchemaRefinements();
  const resources = describeResources([...plans.keys()], crudApplicationOf(moduleRef).databaseOf, refine);
  const reachable = new Set([...resources.values()].flatMap(reachableFrom));
  const served = new Map(routes.all.map(({ controller, plan }) => [controller, resources.get(plan.options)]));
  const documentsOf = (narrow: (resource: DescribedResource) => DescribedResource) =>
    new Map([...served].map(([each, resource]) => [each, documentOf(each, narrow(resource as DescribedResource))]));
  const forAll = documentsOf((resource) => resource);
  return (request) => {
    const own = documentsOf(describeForCaller(reachable, ({ options }) => plans.get(options)?.viewsFor(request)));
    const operations = routes.all.map(({ controller, operation: { name }, route: { method, path } }) => {
      const all = forAll.get(controller);
      const parameters = differences(all?.operations.get(name), own.get(controller)?.operations.get(name));
      return { resource: all?.tag ?? '', name, method, path, parameters };
    });
    return { operations, schemas: new Map([...own.values()].flatMap(({ schemas }) => [...schemas])) };
  };
}

function differences(all?: OperationDocument, own?: OperationDocument): CallerOperation['parameters'] {
  const taken = new Map(own?.parameters.map(({ name, schema }) => [name, schema]));
  const isOther = ({ name, schema }: ParameterDocument) => JSON.stringify(taken.get(name)) !== JSON.stringify(schema);
  return new Map(all?.parameters.filter(isOther).map(({ name }) => [name, taken.get(name)]));
}
