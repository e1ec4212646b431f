/** The option `fieldPermissions`: who may read and write a field. */
import type { Field } from '../../entities/entity-schema.js';
import { UNRESTRICTED, type Permissions } from '../../entities/permissions.js';
import { hasAnyRole } from '../../http/caller.js';
import type { HttpRequest } from '../../http/http-request.js';
import type { FieldPermission } from '../declare/crud-options.js';
import type { ResolvedCrudOptions } from '../declare/resolve-options.js';
import type { ListParameters } from '../query/list-query.js';
import type { FilterableField } from '../query/field-path.js';

export type FieldPermissions = ReadonlyMap<Field, FieldPermission>;
const NONE = { clientId: false };

export const isInsertable = ({ insertable, column }: Field, { clientId }: Pick<ResolvedCrudOptions, 'clientId'>) =>
  insertable || (clientId && column.isPrimary);

export function permissionsOf(fields: FieldPermissions, request: HttpRequest | undefined, options = NONE): Permissions {
  if (fields.size === 0 && !options.clientId) return UNRESTRICTED;
  const isAllowed = (rule: 'never' | 'once' | readonly string[] | undefined): boolean =>
    rule === undefined || (typeof rule === 'object' && hasAnyRole(request, rule));
  const unreadable = new Set<Field>();
  const fixed = new Set<Field>();
  const unset = new Set<Field>();
  for (const [field, { read, write }] of fields) {
    if (!isAllowed(read)) unreadable.add(field);
    if (isAllowed(write)) continue;
    fixed.add(field);
    if (write !== 'once') unset.add(field);
  }
  return {
    canRead: (field) => field.readable && !unreadable.has(field),
    canInsert: (field) => isInsertable(field, options) && !unset.has(field),
    canUpdate: (field) => field.updatable && !fixed.has(field),
  };
}

/** The list parameters without the fields that the caller may not read. */
export function readableParameters(list: ListParameters, canRead: (field: Field) => boolean): ListParameters {
  const isReadable = (each: Field | FilterableField): boolean =>
    'field' in each ? each.relations.length > 0 || canRead(each.field) : canRead(each);
  const kept = <V extends Field | FilterableField>(fields: ReadonlyMap<string, V>): ReadonlyMap<string, V> =>
    new Map([...fields].filter(([, each]) => isReadable(each)));
  return {
    ...list,
    searchable: kept(list.searchable),
    filterable: kept(list.filterable),
    sortable: kept(list.sortable),
    defaultSort: list.defaultSort.filter(({ field }) => canRead(field)),
    readable: list.readable.filter(canRead),
  };
}
