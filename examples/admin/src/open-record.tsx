import { useQueryClient } from '@tanstack/react-query';
import Link from '@mui/material/Link';
import type { MouseEvent } from 'react';
import {
  type Identifier,
  type RaRecord,
  useCanAccess,
  useCreatePath,
  useDataProvider,
  useNotify,
  useRecordContext,
  useRefresh,
  useResourceContext,
  useResourceDefinition,
} from 'react-admin';
import { useNavigate } from 'react-router-dom';

/** The page of a record that the user may open: the form, or what can only be read. */
function usePageOf(resource: string): 'edit' | 'show' | false {
  const { hasShow } = useResourceDefinition({ resource });
  const { canAccess } = useCanAccess({ resource, action: 'edit' });
  if (canAccess) return 'edit';
  return hasShow ? 'show' : false;
}

/** Reads a record before its page is opened: where it is deleted, the list says so and stays. */
export function useCanOpen(resource: string) {
  const page = usePageOf(resource);
  const data = useDataProvider();
  const queries = useQueryClient();
  const notify = useNotify();
  const refresh = useRefresh();
  return async (id: Identifier, _: string, record: RaRecord): Promise<'edit' | 'show' | false> => {
    if (!page) return false;
    if (record['deletedAt']) {
      notify('This record is deleted. Restore it to open it.', { type: 'warning' });
      return false;
    }
    try {
      // The page finds the record in the cache, where react-admin looks for it.
      const queryKey = [resource, 'getOne', { id: String(id), meta: undefined }];
      await queries.fetchQuery({
        queryKey,
        queryFn: async () => (await data.getOne<RaRecord>(resource, { id })).data,
      });
      return page;
    } catch (error) {
      const { status, message } = error as { status?: number; message: string };
      if (status === 404) refresh();
      notify(status === 404 ? 'This record was deleted by somebody else.' : message, { type: 'warning' });
      return false;
    }
  };
}

interface OpenLinkProps {
  readonly source: string;
  /** The list reads these of its column. */
  readonly label?: string;
  readonly sortable?: boolean;
}

/** The text of a row as a link, for the keyboard. A click on the rest of the row opens the record too. */
export function OpenLink({ source }: OpenLinkProps) {
  const record = useRecordContext();
  const resource = useResourceContext() ?? '';
  const type = usePageOf(resource);
  const createPath = useCreatePath();
  const navigate = useNavigate();
  const canOpen = useCanOpen(resource);
  if (!record) return null;
  if (!type) return <>{String(record[source])}</>;
  const path = createPath({ resource, type, id: record.id });
  const open = async (event: MouseEvent) => {
    // New tabs and windows are left to the browser.
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    if (await canOpen(record.id, resource, record)) navigate(path, { state: { _scrollToTop: true } });
  };
  return (
    <Link href={`#${path}`} onClick={(event) => void open(event)}>
      {String(record[source])}
    </Link>
  );
}
