/** Leaves out columns and inputs of fields that the user may not read or write. */
import { useCanAccessResources, useResourceContext } from 'ra-core';
import { Children, isValidElement, type ReactNode } from 'react';

/**
 * The children without those whose `source` is a field that the user may not use, as `canAccess` says. Children without a
 * `source` stay. Until the answer is known, only these are there.
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
  const fields = Children.toArray(children).map((child) => ({ child, name: nameOf(child, resource) }));
  const resources = fields.flatMap(({ name }) => name ?? []);
  const { canAccess } = useCanAccessResources({ action, resources, placeholderData: keepAnswer });
  return fields.filter(({ name }) => name === undefined || canAccess?.[name]).map(({ child }) => child);
}

/** A form keeps its inputs while its record is read again. */
const keepAnswer = <T>(answer: T): T => answer;

function nameOf(child: ReactNode, resource: string | undefined): string | undefined {
  const source = isValidElement<{ readonly source?: unknown }>(child) ? child.props.source : undefined;
  return typeof source === 'string' ? `${resource}.${source}` : undefined;
}
