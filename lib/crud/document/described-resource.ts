/** Resources with those of their relations, as a document needs them before the application has started. */
import type { RefineSchema } from '../../entities/class-validation.js';
import type { Field } from '../../entities/entity-schema.js';
import type { FieldPermission } from '../declare/crud-options.js';
import { defaultOptions, type ResolvedCrudOptions } from '../declare/resolve-options.js';
import type { CallerViews } from '../plan/caller-views.js';
import { describeResource, servingRelation, type Resource } from '../plan/resource.js';
import type { ListParameters } from '../query/list-query.js';
import { readableParameters } from '../rows/field-permissions.js';
import type { Relation } from '../sql/condition.js';
import type { Database } from '../store/database.js';
import { nameResources, type ResourceNames } from './names.js';

export interface DescribedResource extends Resource {
  readonly refine: RefineSchema;
  /** Assigned last: names, and the fields of relations, depend on the other resources. */
  names: ResourceNames;
  list: ListParameters;
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
  for (const resource of resources) {
    const byPath = new Map<string, DescribedResource>();
    const includable = [...resource.listWithDeleted.includable.values()].map((each) => {
      const { path, relation } = each;
      const name = relation.propertyPath;
      const related = relatedOf(resource, path, relation);
      const owner = byPath.get(path.slice(0, -name.length - 1)) ?? resource;
      byPath.set(path, related);
      related.isIncluded = true;
      if (!owner.included.has(name)) owner.included.set(name, { relation, related });
      return [path, { ...each, readable: related.list.readable }] as const;
    });
    resource.list = { ...resource.list, includable: new Map(includable) };
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

/**
 * Resources as one caller may use them: with the fields that its roles read, write, filter and sort by.
 * @param viewsOf `undefined` for an entity without a resource, of which every caller sees the same
 */
export function describeForCaller(
  resources: Iterable<DescribedResource>,
  viewsOf: (resource: DescribedResource) => CallerViews | undefined,
): (resource: DescribedResource) => DescribedResource {
  const narrowed = new Map<DescribedResource, DescribedResource>();
  const find = (resource: DescribedResource): DescribedResource => narrowed.get(resource) ?? resource;
  for (const each of resources) {
    const views = viewsOf(each);
    if (views) narrowed.set(each, { ...each, ...narrow(each, views) });
  }
  for (const { included } of narrowed.values())
    for (const [name, { relation, related }] of included) included.set(name, { relation, related: find(related) });
  return find;
}

/** Narrows a resource to what requests of the caller may name. */
function narrow(resource: DescribedResource, views: CallerViews): Partial<DescribedResource> {
  const { options, owner, fieldPermissions, aggregatable, included } = resource;
  const { list, permissions } = views.without;
  const permissionOf = (field: Field): FieldPermission => ({
    ...(!permissions.canRead(field) && { read: 'never' }),
    ...(!permissions.canUpdate(field) && { write: permissions.canInsert(field) ? 'once' : 'never' }),
  });
  const restricted = [...fieldPermissions.keys(), ...(owner ? [owner.field] : [])];
  return {
    list,
    listWithDeleted: views.with.list,
    aggregatable: aggregatable.filter(permissions.canRead),
    fieldPermissions: new Map(restricted.map((field) => [field, permissionOf(field)])),
    options: { ...options, deletedRoles: list.choosesDeleted ? options.deletedRoles : [] },
    included: new Map(included),
  };
}
