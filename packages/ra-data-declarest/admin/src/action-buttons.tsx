/** Buttons for the operations of the application with a record, with a dialog for what each of them takes. */
import type { ActionDescription, ResourceDescription } from 'ra-data-declarest/description';
import { type RaRecord, useGetRecordRepresentation, useRecordContext } from 'react-admin';

import { DialogButton } from './dialog-button.js';
import { input, labelOf } from './fields.js';
import { useMayDo } from './permitted.js';
import { useService } from './service.js';

export function ActionButtons({ resource: { name, actions } }: { readonly resource: ResourceDescription }) {
  const record = useRecordContext<RaRecord>();
  if (!record) return null;
  return actions.map((action) => <ActionButton key={action.name} resource={name} action={action} record={record} />);
}

interface ActionButtonProps {
  readonly resource: string;
  readonly action: ActionDescription;
  readonly record: RaRecord;
}

function ActionButton({ resource, action: { name, method, title, fields }, record }: ActionButtonProps) {
  const { resources } = useService();
  const nameOf = useGetRecordRepresentation(resource);
  const mayDo = useMayDo(name, resource);
  if (!mayDo) return null;
  // The path of a deletion names only what is deleted.
  const label = method === 'delete' ? (title ?? `Delete ${labelOf(name).toLowerCase()}`) : labelOf(name);
  const path = `${resource}/${encodeURIComponent(record.id)}/${name}`;
  return (
    <DialogButton label={label} title={title ?? label} subject={nameOf(record)} method={method} path={path}>
      {fields.map((field) => input(field, resources, true))}
    </DialogButton>
  );
}
