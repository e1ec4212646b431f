/** What callers may see and change, as far as it depends on their roles: computed once for each set of roles that a resource names. */
import type { Field } from '../../entities/entity-schema.js';
import type { Permissions } from '../../entities/permissions.js';
import { hasAnyRole } from '../../http/caller.js';
import type { HttpRequest } from '../../http/http-request.js';
import { rolesOf } from '../declare/resolve-options.js';
import { classCondition } from '../query/field-path.js';
import type { Deleted } from '../query/parameters.js';
import type { ListParameters } from '../query/list-query.js';
import type { Includable } from '../query/record-request.js';
import { permissionsOf, readableParameters } from '../rows/field-permissions.js';
import { isBound } from '../rows/owner.js';
import { type WritePrecondition, and, compare, EVERYTHING, type Condition, type Relation } from '../sql/condition.js';
import { foreignKeyFields } from '../sql/foreign-keys.js';
import { BoundedMap } from '../../http/bounded-map.js';
import { pathsOf, relationPath } from './list-parameters.js';
import type { Resource } from './resource.js';

/** One view for each choice of `deleted`, before scopes and owners are added. */
export type CallerViews = Readonly<Record<Deleted, CallerView>>;

/** What the caller of one operation may see and change. */
export interface CallerView {
  readonly list: ListParameters;
  readonly permissions: Permissions;
  readonly isOwnerBound: boolean;
  readonly version: Field | undefined;
  /** Every statement of the call has this condition: another record does not exist for the caller. */
  readonly visible: Condition;
  /** Whether a written record might lie outside of `visible`. */
  readonly isScoped: boolean;
  /** A record must meet their conditions to be changed. */
  readonly preconditions: readonly WritePrecondition[];
  /** Values that every written record gets; a client may send the same. */
  readonly fixed: ReadonlyMap<Field, unknown>;
}

const NOTHING_FIXED: CallerView['fixed'] = new Map();

type Relations = ReadonlyMap<string, Resource>;

/** @param relations the resources of the relations that requests follow, by path */
export function compileViews(resource: Resource, relations: Relations): (request?: HttpRequest) => CallerViews {
  const roles = [...new Set([resource, ...relations.values()].flatMap(({ options }) => rolesOf(options)))];
  if (roles.length === 0) {
    const views = viewsOf(resource, relations, undefined);
    return () => views;
  }
  const views = new BoundedMap<CallerViews>();
  return (request) => {
    const key = roles.filter((role) => hasAnyRole(request, [role])).join('\n');
    return views.get(key, () => viewsOf(resource, relations, request));
  };
}

/** @param request of any caller with the same roles */
function viewsOf(resource: Resource, relations: Relations, request: HttpRequest | undefined): CallerViews {
  const { owner, fieldPermissions, deletion, list, listWithDeleted, options } = resource;
  const all = permissionsOf(fieldPermissions, request, options);
  const isOwnerBound = owner !== undefined && isBound(owner, request);
  const choosesDeleted = hasAnyRole(request, options.deletedRoles);
  const readable = (parameters: ListParameters): ListParameters =>
    followable(resource, relations, readableParameters(parameters, all.canRead), request);
  const without = readable(
    choosesDeleted ? { ...listWithDeleted, readable: list.readable } : { ...list, choosesDeleted },
  );
  const withDeleted = choosesDeleted ? readable(listWithDeleted) : without;
  const view = (parameters: ListParameters, visible: Condition): CallerView =>
    Object.freeze({
      list: parameters,
      permissions: isOwnerBound ? withoutWriting(owner.field, all) : all,
      isOwnerBound,
      version: without.readable.find(({ column }) => column.isVersion),
      visible,
      isScoped: false,
      preconditions: [],
      fixed: NOTHING_FIXED,
    });
  const where = (operator: 'isNull' | 'isNotNull') =>
    and(classCondition(resource.schema), deletion ? compare(deletion, operator) : EVERYTHING);
  return Object.freeze({
    without: view(without, where('isNull')),
    with: view(withDeleted, classCondition(resource.schema)),
    only: view(withDeleted, where('isNotNull')),
  });
}

const withoutWriting = (owned: Field, permissions: Permissions): Permissions => ({
  canRead: (field) => permissions.canRead(field),
  canInsert: (field) => field !== owned && permissions.canInsert(field),
  canUpdate: (field) => field !== owned && permissions.canUpdate(field),
});

/** The parameters without relations and related fields that the caller may not read. */
function followable(
  { database }: Resource,
  related: Relations,
  list: ListParameters,
  request: HttpRequest | undefined,
): ListParameters {
  if (related.size === 0) return list;
  const readableAt = (path: string): readonly Field[] | undefined => {
    const resource = related.get(path);
    return resource?.list.readable.filter(permissionsOf(resource.fieldPermissions, request).canRead);
  };
  // Related records would tell the foreign key, from either side.
  const isReadable = (path: string, relation: Relation): boolean => {
    const parent = path.slice(0, -relation.propertyPath.length - 1);
    const parentFields = parent === '' ? list.readable : readableAt(parent);
    const readable = relation.isOwning ? parentFields : readableAt(path);
    const keys = foreignKeyFields(relation, database.describe);
    return !readable || keys.every((key) => !key.readable || has(readable, key));
  };
  const includable = new Map<string, Includable>();
  // Each path comes after those that it begins with.
  for (const [path, each] of list.includable) {
    const parent = path.slice(0, -each.relation.propertyPath.length - 1);
    if (isReadable(path, each.relation) && (parent === '' || includable.has(parent)))
      includable.set(path, { ...each, readable: readableAt(path) ?? each.readable });
  }
  const isNamed = (relations: readonly Relation[], field: Field): boolean => {
    const readable = readableAt(relationPath(relations));
    return pathsOf(relations).every((each) => isReadable(...each)) && (!readable || has(readable, field));
  };
  const filterable = [...list.filterable].filter(([, { relations, field }]) => isNamed(relations, field));
  const sortable = [...list.sortable].filter(([, field]) => isNamed(field.through ?? [], field));
  return { ...list, includable, filterable: new Map(filterable), sortable: new Map(sortable) };
}

const has = (fields: readonly Field[], { column }: Field): boolean => fields.some((each) => each.column === column);
