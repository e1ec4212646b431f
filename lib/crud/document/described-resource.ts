/** Resources with those of their relations, as a document needs them before the application has started. */
import type { RefineSchema } from '../../entities/class-validation.js';
import type { Field } from '../../entities/entity-schema.js';
import { defaultOptions, type ResolvedCrudOptions } from '../declare/resolve-options.js';
import { describeResource, servingRelation, type Resource } from '../plan/resource.js';
import { readableParameters } from '../rows/field-permissions.js';
import type { Relation } from '../sql/condition.js';
import type { Database } from '../store/database.js';
import { nameResources, type ResourceNames } from './names.js';

export interface DescribedResource extends Resource<object> {
  readonly refine: RefineSchema;
  /** Assigned last: names depend on those of the other resources. */
  names: ResourceNames;
  /** The resources of the relations that its requests may include, by path such as `comments.author`. */
  readonly relations: Map<string, DescribedResource>;
  /** The relations that answers may include in its records: of its own requests, and of those of other resources. */
  readonly included: Map<string, { readonly relation: Relation; readonly related: DescribedResource }>;
  isIncluded: boolean;
}

/** Scopes do not change what is described, and their providers may not exist yet. */
const ANY_SCOPE = { scope: () => true };

export function describeResources(
  declared: readonly ResolvedCrudOptions[],
  databaseOf: (options: ResolvedCrudOptions) => Database,
  refinementOf: (entity: Function) => RefineSchema,
): ReadonlyMap<ResolvedCrudOptions, DescribedResource> {
  const link = (options: ResolvedCrudOptions, database: Database): DescribedResource => {
    const resource = describeResource(options, database, () => ANY_SCOPE);
    const isRead = (field: Field): boolean => resource.fieldPermissions.get(field)?.read !== 'never';
    return {
      ...resource,
      list: readableParameters(resource.list, isRead),
      listWithDeleted: readableParameters(resource.listWithDeleted, isRead),
      aggregatable: resource.aggregatable.filter(isRead),
      names: { one: '', many: '', tag: '' },
      refine: refinementOf(options.entity),
      relations: new Map(),
      included: new Map(),
      isIncluded: false,
    };
  };
  const resources = declared.map((options) => link(options, databaseOf(options)));
  const others: DescribedResource[] = [];
  const relatedOf = (resource: DescribedResource, path: string, relation: Relation): DescribedResource => {
    const known = [...resources, ...others].find(servingRelation(resource, path, relation).serves);
    if (known) return known;
    const entity = relation.inverseEntityMetadata.target as ResolvedCrudOptions['entity'];
    const related = link(defaultOptions(entity), resource.database);
    others.push(related);
    return related;
  };
  for (const resource of resources)
    for (const { path, relation } of resource.listWithDeleted.includable.values()) {
      const name = relation.propertyPath;
      const related = relatedOf(resource, path, relation);
      const owner = resource.relations.get(path.slice(0, -name.length - 1)) ?? resource;
      resource.relations.set(path, related);
      related.isIncluded = true;
      if (!owner.included.has(name)) owner.included.set(name, { relation, related });
    }
  for (const [resource, names] of nameResources(resources, others)) resource.names = names;
  return new Map(resources.map((each) => [each.options, each]));
}

/** The resources whose records an answer may have: its own, and those that it includes directly or through others. */
export function reachableFrom(resource: DescribedResource): DescribedResource[] {
  const found = new Set([resource]);
  for (const each of found) for (const { related } of each.included.values()) found.add(related);
  return [...found];
}
