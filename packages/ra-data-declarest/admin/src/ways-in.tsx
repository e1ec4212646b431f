/** The sessions of a user and other ways in, which an administrator revokes with a proof of the own identity. */
import type { ResourceDescription } from 'ra-data-declarest/description';
import type { ReactNode } from 'react';
import {
  Datagrid,
  DateField,
  FunctionField,
  Labeled,
  PasswordInput,
  type RaRecord,
  ReferenceManyField,
  TextField,
  TextInput,
  useGetRecordRepresentation,
  useRecordContext,
} from 'react-admin';

import { WAYS_IN } from './accounts.js';
import { DialogButton } from './dialog-button.js';
import { labelOf } from './fields.js';
import { BELOW_FORM, UNSORTED } from './list-page.js';
import { useMayDo } from './permitted.js';
import { NoRows, READING } from './read-failure.js';

export function WaysIn({ of: { name, accounts } }: { readonly of: ResourceDescription }) {
  const user = useRecordContext();
  const nameOf = useGetRecordRepresentation(name);
  const mayRead = useMayDo('ways-in', name);
  const proofs = accounts?.proofs;
  if (!proofs || !user || !mayRead) return null;
  return (
    <Labeled label="Sessions and other ways in" sx={BELOW_FORM}>
      <ReferenceManyField reference={`${name}${WAYS_IN}`} target="id" sort={UNSORTED} queryOptions={READING}>
        <Datagrid bulkActionButtons={false} rowClick={false} empty={<NoRows />}>
          <TextField source="kind" sortable={false} />
          <DateField source="createdAt" sortable={false} showTime />
          <DateField source="lastUsedAt" sortable={false} showTime />
          <FunctionField label="Details" sortable={false} render={detailsOf} />
          <RevokeButton
            label="Actions"
            user={nameOf(user)}
            path={`${name}/${encodeURIComponent(user.id)}/ways-in`}
            proofs={proofs}
          />
        </Datagrid>
      </ReferenceManyField>
    </Labeled>
  );
}

const COLUMNS = ['id', 'kind', 'createdAt', 'lastUsedAt'];

/** The members that only ways of its kind have. */
const detailsOf = (way: RaRecord): string =>
  Object.entries(way)
    .filter(([name, value]) => !COLUMNS.includes(name) && value !== null)
    .map(([name, value]) => `${labelOf(name)}: ${String(value)}`)
    .join(', ');

interface RevokeButtonProps {
  /** Of the column. */
  readonly label: string;
  readonly user: ReactNode;
  /** Of the ways in of the user. */
  readonly path: string;
  readonly proofs: readonly string[];
}

function RevokeButton({ user, path, proofs }: RevokeButtonProps) {
  const way = useRecordContext();
  if (!way) return null;
  return (
    <DialogButton
      label="Revoke"
      title={`Revoke this ${String(way['kind'])}`}
      subject={user}
      method="delete"
      path={`${path}/${way.id}`}
    >
      {proofs.map((name) =>
        name === 'password' ? (
          <PasswordInput key={name} source={name} label="Your password" autoComplete="current-password" />
        ) : (
          <TextInput key={name} source={name} label={`Your ${labelOf(name).toLowerCase()}`} autoComplete="off" />
        ),
      )}
    </DialogButton>
  );
}
