/** Resources as one caller may use them: with the fields that its roles read, write, filter and sort by. */
import type { Field } from '../../entities/entity-schema.js';
import type { FieldPermission } from '../declare/crud-options.js';
import type { CallerViews } from '../plan/caller-views.js';
import type { DescribedResource } from './described-resource.js';

/** @param viewsOf `undefined` for an entity without a resource, of which every caller sees the same */
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
  const { options, owner, fieldPermissions, aggregatable, relations, included } = resource;
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
    relations: new Map(
      [...relations].map(([path, related]) => {
        const readable = list.includable.get(path)?.readable ?? [];
        return [path, { ...related, list: { ...related.list, readable } }];
      }),
    ),
    included: new Map(included),
  };
}
