/** What each caller may send to generated operations, and gets: for tools of agents. */
import type { ModuleRef } from '@nestjs/core';
import { AccessRules } from '../access/access-rules.js';
import type { CompiledAccess } from '../access/compiled-access.js';
import { crudApplicationOf } from '../crud/nest/crud-application.js';
import { documentOf } from '../crud/nest/describe-controllers.js';
import { describeForCaller } from '../crud/document/describe-for-caller.js';
import { describeResources, reachableFrom, type DescribedResource } from '../crud/document/described-resource.js';
import type { OperationDocument } from '../documents/operation-document.js';
import { loadSchemaRefinements } from '../entities/class-validation.js';
import type { JsonSchema } from '../entities/json-schema.js';
import type { HttpRequest } from '../http/http-request.js';
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
 * @example
 * const describe = await describeForCallers(moduleRef);
 * const { schemas } = describe(request);
 */
export async function describeForCallers(moduleRef: ModuleRef): Promise<(request: HttpRequest) => CallerDocument> {
  const compiled = moduleRef.get(AccessRules, { strict: false }).compiled as CompiledAccess;
  const routes = generatedRoutes({ get: () => moduleRef }, compiled);
  const plans = new Map(routes.plans.map((plan) => [plan.options, plan]));
  const crud = crudApplicationOf(moduleRef);
  const resources = describeResources([...plans.keys()], crud, await loadSchemaRefinements());
  const reachable = new Set([...resources.values()].flatMap(reachableFrom));
  const controllers = new Map(routes.all.map(({ controller, plan }) => [controller, plan.options]));
  const documentsOf = (narrow: (resource: DescribedResource) => DescribedResource) =>
    new Map(
      [...controllers].map(([controller, options]) => {
        const resource = resources.get(options) as DescribedResource;
        return [controller, documentOf(controller, narrow(resource))] as const;
      }),
    );
  const forAll = documentsOf((resource) => resource);
  return (request) => {
    const own = documentsOf(describeForCaller(reachable, ({ options }) => plans.get(options)?.viewsFor(request)));
    const operations = routes.all.flatMap(({ controller, operation: { name }, route: { method, path } }) => {
      const declared = forAll.get(controller)?.operations.get(name);
      const narrowed = own.get(controller)?.operations.get(name);
      if (!declared || !narrowed) return [];
      const resource = forAll.get(controller)?.tag ?? '';
      return [{ resource, name, method, path, parameters: differences(declared, narrowed) }];
    });
    return { operations, schemas: new Map([...own.values()].flatMap(({ schemas }) => [...schemas])) };
  };
}

function differences(all: OperationDocument, own: OperationDocument): CallerOperation['parameters'] {
  const taken = new Map(own.parameters.map(({ name, schema }) => [name, schema]));
  const changed = all.parameters.filter(
    ({ name, schema }) => JSON.stringify(taken.get(name)) !== JSON.stringify(schema),
  );
  return new Map(changed.map(({ name }) => [name, taken.get(name)]));
}
