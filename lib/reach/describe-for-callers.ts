/** What each caller may send to generated operations, and gets: for tools of agents. */
import type { ModuleRef } from '@nestjs/core';
import { AccessRules } from '../access/access-rules.js';
import { documentControllers } from '../crud/inspect.js';
import type { OperationDocument, ParameterDocument } from '../documents/operation-document.js';
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
  /** The schemas of parameters that differ for the caller, by name; `undefined` where he may not send one. */
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
  const { all } = generatedRoutes({ get: () => moduleRef }, compiled);
  const { forAll, forCaller } = await documentControllers(moduleRef);
  return (request) => {
    const own = forCaller(request);
    const operations = all.map(({ operation: { controller, name }, route: { method, path } }) => {
      const document = forAll.get(controller);
      const parameters = differences(document?.operations.get(name), own.get(controller)?.operations.get(name));
      return { resource: document?.tag ?? '', name, method, path, parameters };
    });
    return { operations, schemas: new Map([...own.values()].flatMap(({ schemas }) => [...schemas])) };
  };
}

function differences(all?: OperationDocument, own?: OperationDocument): CallerOperation['parameters'] {
  const taken = new Map(own?.parameters.map(({ name, schema }) => [name, schema]));
  const isOther = ({ name, schema }: ParameterDocument) => JSON.stringify(taken.get(name)) !== JSON.stringify(schema);
  return new Map(all?.parameters.filter(isOther).map(({ name }) => [name, taken.get(name)]));
}
