import RestoreIcon from '@mui/icons-material/RestoreFromTrash';
import type { MouseEvent } from 'react';
import { Button, useNotify, useRecordContext, useRefresh } from 'react-admin';

import { shopData } from './shop.js';

/** Restores a deleted product. Records that are not deleted have no such button. */
export function RestoreButton() {
  const record = useRecordContext();
  const notify = useNotify();
  const refresh = useRefresh();
  if (!record?.['deletedAt']) return null;
  const restore = async (event: MouseEvent) => {
    event.stopPropagation(); // A click on the row opens the record.
    try {
      await shopData.restore('products', { id: record.id });
      notify('Restored');
      refresh();
    } catch (error) {
      notify((error as Error).message, { type: 'error' });
    }
  };
  return (
    <Button label="Restore" onClick={(event: MouseEvent) => void restore(event)}>
      <RestoreIcon />
    </Button>
  );
}
