/** What the user may do, by the roles in the description, and by `canAccess`. */
import type { FieldDescription, ResourceDescription } from 'ra-data-declarest/description';
import { useCanAccess, usePermissions } from 'react-admin';

export function useMayDo(action: string, resource: string): boolean {
  return useCanAccess({ resource, action }).canAccess ?? false;
}

/** Whether a role of the user is one of these. Without any, everyone may. */
export function useMay(): (roles: readonly string[] | undefined) => boolean {
  const { permissions: own = [] } = usePermissions<string[]>();
  return (roles) => !roles || roles.some((role) => own.includes(role));
}

export function useReadFields({ fields }: ResourceDescription): readonly FieldDescription[] {
  const may = useMay();
  return fields.filter(({ isReadable, readers }) => isReadable && may(readers));
}

export function useWrittenFields({ fields }: ResourceDescription, isWritten: 'isCreatable' | 'isEditable') {
  const may = useMay();
  return fields.filter((field) => field[isWritten] && may(field.readers) && may(field.writers));
}
