/** The documents of all generated controllers of an application. */
import { loadClassValidationSchemas } from '../../entities/class-validation.js';
import type { JsonSchema } from '../../entities/json-schema.js';
import { FAILURE, REFUSAL } from '../../documents/failures.js';
import type { ControllerDocument, NamedSchema, OperationDocument } from '../../documents/operation-document.js';
import type { DescribedOperation } from './described-operation.js';
import type { DescribedResource } from './described-resource.js';
import { nameResources, type ResourceNames } from './names.js';
import { describeOperation } from './operation-documents.js';
import { createSchema, patchItemSchema, patchSchema, recordSchema, replaceSchema } from './record-schemas.js';
import type { Described } from './record-schemas.js';
import { PAGINATION } from './responses.js';

export interface DocumentedController {
  readonly resource: DescribedResource;
  /** With the names of the parameters in their paths. */
  readonly operations: ReadonlyMap<DescribedOperation, readonly string[]>;
}

const MAKE = { create: createSchema, replace: replaceSchema, patch: patchSchema, patchItem: patchItemSchema };

export function describeControllers(controllers: readonly DocumentedController[]): Promise<ControllerDocument[]> {
  const resources = new Set(controllers.map(({ resource }) => resource));
  const names = nameResources(
    [...resources],
    [...resources].flatMap(reachable).filter((each) => !resources.has(each)),
  );
  const nameOf = (resource: DescribedResource): string => names.get(resource)?.one ?? resource.schema.name;
  return Promise.all(
    controllers.map(async ({ resource, operations }) => {
      const narrow = await loadClassValidationSchemas(resource.options.entity);
      const own = names.get(resource) as ResourceNames;
      const about: Described = { resource, names: own, nameOf, narrow };
      const schemas = new Map<string, JsonSchema>();
      const add = ({ name, schema }: NamedSchema): void => void schemas.set(name, schema);
      [FAILURE, REFUSAL, PAGINATION].forEach(add);
      for (const each of [resource, ...reachable(resource)])
        add(recordSchema({ ...about, resource: each, names: { ...own, one: nameOf(each) } }));
      for (const { description } of operations.keys())
        if (typeof description.body === 'string') add(MAKE[description.body](about));
      const described = [...operations].map(([operation, path]): [string, OperationDocument] => [
        operation.name,
        describeOperation({ operation, resource, names: own, path, schemas }),
      ]);
      const named = [...schemas].map(([name, schema]) => ({ name, schema }));
      return { tag: own.tag, operations: new Map(described), schemas: named };
    }),
  );
}

/** The resources whose records an answer may include, directly or through others. */
function reachable(resource: DescribedResource): DescribedResource[] {
  const found = new Set([resource]);
  for (const each of found) for (const { related } of each.included.values()) found.add(related);
  found.delete(resource);
  return [...found];
}
