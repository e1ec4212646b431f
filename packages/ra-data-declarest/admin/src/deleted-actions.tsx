/** The buttons of a record that is deleted, and that the server keeps. */
import type { DeletionDescription } from 'ra-data-declarest/description';
import type { ReactElement } from 'react';
import { DeleteButton, type RaRecord, useNotify, useRecordContext, useRefresh, useResourceContext } from 'react-admin';

import { useIsNarrow } from './cards.js';
import { useMayDo } from './permitted.js';
import { useNotifyOf } from './record-notices.js';
import { useService } from './service.js';
import { AS_TEXT, TextButton } from './text-button.js';

const PURGE = 'Delete for good';

interface DeletedActionsProps {
  readonly source: '';
  /** Of the column. */
  readonly label: ReactElement;
  readonly deletion: DeletionDescription;
  readonly mayDelete: boolean;
}

export function DeletedActions({ deletion: { field, canRestore }, mayDelete }: DeletedActionsProps) {
  const { data } = useService();
  const record = useRecordContext<RaRecord>();
  const resource = useResourceContext() ?? '';
  const notify = useNotify();
  const notifyOf = useNotifyOf(resource);
  const refresh = useRefresh();
  const isNarrow = useIsNarrow();
  const mayRestore = useMayDo('restore', resource) && canRestore;
  if (!record?.[field]) return null;
  const restore = async () => {
    try {
      await data.restore(resource, { id: record.id, previousData: record });
      notifyOf(record, 'restored');
      refresh();
    } catch (error) {
      notify((error as Error).message, { type: 'error' });
    }
  };
  return (
    <>
      {mayRestore && <TextButton label="Restore" onClick={() => void restore()} />}
      {mayDelete && (
        <DeleteButton
          label={PURGE}
          {...(isNarrow && { icon: <span>{PURGE}</span>, sx: AS_TEXT })}
          mutationMode="pessimistic"
          confirmContent="It cannot be restored afterwards."
          mutationOptions={{ meta: { purge: true } }}
          redirect={false}
        />
      )}
    </>
  );
}
