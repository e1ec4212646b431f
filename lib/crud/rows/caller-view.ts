/** What the caller of an operation may see and change of a resource. */
import type { DataSource } from 'typeorm';
import type { Field } from '../../entities/entity-schema.js';
import type { Permissions } from '../../entities/permissions.js';
import { hasAnyRole, userOf } from '../../http/principal.js';
import type { HttpRequest } from '../../http/request-facts.js';
import type { OperationName } from '../declare/operations.js';
import { and, compare, EVERYTHING, isEverything, type Condition } from '../sql/condition.js';
import { isDeletedChoice, type Deleted } from '../query/deleted-parameters.js';
import type { ListParameters, ListQuery } from '../query/list-query.js';
import { currentRequest } from '../nest/request-context.js';
import { deletionOf, notDeleted } from '../query/field-path.js';
import type { Resource } from '../plan/resource.js';
import type { Guard } from './write-precondition.js';
import { permissionsOf, readableParameters } from './field-permissions.js';
import { isBound, isOwn, newOwnerOf, ownerGuard } from './owner.js';
import { pathValues } from './path-parameters.js';
import { conditionOfWhere } from './where-condition.js';

/** For one call of an operation. */
export interface View {
  /** Every statement of the call has this condition: another record does not exist for the caller. */
  readonly visible: Condition;
  /** Whether a written record might lie outside of `visible`. */
  readonly isScoped: boolean;
  /** What the caller may name in a query string. */
  readonly list: ListParameters;
  readonly permissions: Permissions;
  /** A record must meet their conditions to be changed. */
  readonly guards: readonly Guard[];
  /** Values that every written record gets; a client may send the same. */
  readonly fixed: ReadonlyMap<Field, unknown>;
}

/**
 * @param deleted whether deleted records are visible
 * @throws 404 where the path has a parameter that is none; what the scope throws
 */
export async function viewOf<T extends object>(
  resource: Resource<T>,
  operation: OperationName,
  dataSource: DataSource,
  deleted: Deleted = 'without',
): Promise<View> {
  const request = currentRequest();
  const fixed = pathValues(resource.schema.name, resource.pathParameters, request);
  const below = [...fixed].map(([field, value]) => compare(field, 'eq', value));
  const { owner } = resource;
  const related = await relatedViewOf(resource, operation, dataSource, deleted);
  return {
    ...related,
    visible: and(related.visible, ...below),
    guards: owner && isBound(owner, request) ? [ownerGuard(owner, request)] : [],
    fixed,
  };
}

/** Of the records that belong to a record of another resource: they have no path of their own. */
export async function relatedViewOf<T extends object>(
  resource: Resource<T>,
  operation: OperationName,
  dataSource: DataSource,
  deleted: Deleted = 'without',
): Promise<View> {
  const request = currentRequest();
  const { owner, fieldPermissions } = resource;
  const isHidden = owner !== undefined && owner.reads && isBound(owner, request);
  const scope = await scopeOf(resource, operation, request, dataSource);
  const permissions = permissionsOf(fieldPermissions, request);
  const list = listFor(resource, deleted);
  return {
    visible: and(scope, ...(isHidden ? [isOwn(owner, request)] : []), ...among(resource, deleted)),
    isScoped: !isEverything(scope),
    list: fieldPermissions.size === 0 ? list : readableParameters(list, permissions),
    permissions: owner && isBound(owner, request) ? withoutWriting(owner.field, permissions) : permissions,
    guards: [],
    fixed: new Map(),
  };
}

async function scopeOf<T extends object>(
  { scope, metadata }: Resource<T>,
  operation: OperationName,
  request: HttpRequest | undefined,
  dataSource: DataSource,
): Promise<Condition> {
  if (!scope) return EVERYTHING;
  return conditionOfWhere(await scope({ user: userOf(request), operation }), metadata, dataSource);
}

function among<T extends object>({ schema }: Resource<T>, deleted: Deleted): Condition[] {
  const deletion = deletionOf(schema);
  if (deleted === 'without' || !deletion) return notDeleted(schema);
  return deleted === 'only' ? [compare(deletion, 'isNotNull')] : [];
}

function listFor<T extends object>(resource: Resource<T>, deleted: Deleted): ListParameters {
  const { list, listWithDeleted } = resource;
  if (!mayChooseDeleted(resource)) return list;
  return deleted === 'without' ? { ...listWithDeleted, readable: list.readable } : listWithDeleted;
}

const withoutWriting = (owned: Field, permissions: Permissions): Permissions => ({
  canRead: (field) => permissions.canRead(field),
  canInsert: (field) => field !== owned && permissions.canInsert(field),
  canUpdate: (field) => field !== owned && permissions.canUpdate(field),
});

/** Whether the caller may send `deleted` and `purge`. */
export const mayChooseDeleted = <T extends object>({ options: { deletedRoles } }: Resource<T>): boolean =>
  hasAnyRole(currentRequest(), deletedRoles);

/** What a query string chooses. Parsing it refuses `deleted` where it is not allowed. */
export function deletedIn<T extends object>(resource: Resource<T>, { deleted }: ListQuery): Deleted {
  return isDeletedChoice(deleted) && mayChooseDeleted(resource) ? deleted : 'without';
}

/**
 * The values that the server gives a new record where the client sends none.
 *
 * @throws 401 for an anonymous owner, 403 where the path names another owner
 */
export function newValuesOf<T extends object>({ owner }: Resource<T>, { fixed }: View): ReadonlyMap<Field, unknown> {
  return owner
    ? new Map([[owner.field, newOwnerOf(owner, currentRequest(), fixed.get(owner.field))], ...fixed])
    : fixed;
}
