/** Leaves out columns and inputs of fields that the user may not read or write. */
import { useCanAccessResources, useResourceContext } from 'ra-core';
import { Children, isValidElement, type ReactNode } from 'react';

/**
 * The children without those that the user may not use, as `canAccess` says: whose `source` is a field that the user may not
 * read or write, or whose `reference` is a resource that the user may not list. Children without both stay. Until the answer
 * is known, only these are there.
 *
 * @param children fields of a table or a page, or inputs of a form, of the resource around the component
 *
 * @example
 * const ShopTable = ({ children, ...props }: DatagridProps) => (
 *   <Datagrid {...props}>{usePermittedFields(children)}</Datagrid>
 * );
 */
export function usePermittedFields(children: ReactNode, action: 'read' | 'write' = 'read'): ReactNode[] {
  const resource = useResourceContext();
  const elements = Children.toArray(children).map((child) => {
    const { source, reference } = isValidElement<Props>(child) ? child.props : {};
    const field = source === undefined ? undefined : `${resource}.${source}`;
    return { child, field, reference };
  });
  const mayUse = usePermission(
    action,
    elements.map(({ field }) => field),
  );
  const mayList = usePermission(
    'list',
    elements.map(({ reference }) => reference),
  );
  return elements.filter(({ field, reference }) => mayUse(field) && mayList(reference)).map(({ child }) => child);
}

interface Props {
  readonly source?: string;
  readonly reference?: string;
}

/** Whether the user may do it with a resource, as react-admin names it; without a name, always. */
function usePermission(action: string, names: readonly (string | undefined)[]): (name: string | undefined) => boolean {
  const resources = names.filter((name) => name !== undefined);
  const { canAccess } = useCanAccessResources({ action, resources, placeholderData: keepAnswer });
  return (name) => name === undefined || (canAccess?.[name] ?? false);
}

/** A form keeps its inputs while its record is read again. */
const keepAnswer = <T>(answer: T): T => answer;
