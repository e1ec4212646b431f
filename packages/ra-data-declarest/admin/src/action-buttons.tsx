/** Buttons for the operations of the application, with a dialog for what each of them takes. */
import type { ActionDescription, ResourceDescription } from 'ra-data-declarest/description';
import type { ReactNode } from 'react';
import { type RaRecord, useGetRecordRepresentation, useGetResourceLabel, useRecordContext } from 'react-admin';

import { DialogButton } from './dialog-button.js';
import { input, labelOf } from './fields.js';
import { useMayDo } from './permitted.js';
import { useService } from './service.js';

interface ActionButtonsProps {
  readonly resource: ResourceDescription;
}

/** Those of the record on the page. */
export function ActionButtons({ resource: { name, actions, accounts } }: ActionButtonsProps) {
  const record = useRecordContext<RaRecord>();
  const nameOf = useGetRecordRepresentation(name);
  if (!record) return null;
  const path = `${name}/${encodeURIComponent(record.id)}`;
  const of = { resource: name, path, subject: nameOf(record), isTitled: accounts !== undefined };
  return actions.map((action) => <ActionButton key={action.name} action={action} {...of} />);
}

/** Those without a record. */
export function ListActionButtons({ resource: { name, listActions } }: ActionButtonsProps) {
  const nameOf = useGetResourceLabel();
  const of = { resource: name, path: name, subject: nameOf(name, 2) };
  return listActions.map((action) => <ActionButton key={action.name} action={action} {...of} />);
}

interface ActionButtonProps {
  readonly resource: string;
  readonly action: ActionDescription;
  /** Of what the operation is for. */
  readonly path: string;
  readonly subject: ReactNode;
  /** Whether the title says more than the path. */
  readonly isTitled?: boolean;
}

function ActionButton({ resource, action, path, subject, isTitled = false }: ActionButtonProps) {
  const { name, method, title, fields } = action;
  const { resources } = useService();
  const mayDo = useMayDo(name, resource);
  if (!mayDo) return null;
  // The path of a deletion names only what is deleted.
  const deletes = method === 'delete';
  const ofPath = deletes ? `Delete ${labelOf(name).toLowerCase()}` : labelOf(name);
  const label = deletes || isTitled ? (title ?? ofPath) : ofPath;
  return (
    <DialogButton label={label} title={title ?? label} subject={subject} method={method} path={`${path}/${name}`}>
      {fields.map((field) => input(field, resources, true))}
    </DialogButton>
  );
}
