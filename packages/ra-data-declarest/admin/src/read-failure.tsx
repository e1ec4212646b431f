/** Says why records could not be read, and reads them again. */
import { useSyncExternalStore } from 'react';
import { useEditContext, useListContext, useShowContext } from 'react-admin';

import { TextButton } from './text-button.js';

/** The page shows why a read failed, so no notification repeats it. */
export const READING = { onError: () => undefined } as const;

interface Reading {
  readonly error?: { readonly message: string } | null | undefined;
  readonly refetch: () => unknown;
}

function ReadFailure({ error, refetch }: Reading) {
  if (!error) return null;
  return (
    <div role="alert" style={{ padding: '1em' }}>
      <p>{error.message}</p>
      <TextButton label="Try again" variant="contained" onClick={() => void refetch()} />
    </div>
  );
}

export const ListFailure = () => <ReadFailure {...useListContext()} />;
export const EditFailure = () => <ReadFailure {...useEditContext()} />;
export const ShowFailure = () => <ReadFailure {...useShowContext()} />;

/** In place of the rows of a list below a record. */
export function NoRows() {
  const { error } = useListContext();
  return error ? <ListFailure /> : <p>None</p>;
}

/** react-admin waits for the connection, and then reads. */
export function OfflineNotice() {
  const isOnline = useSyncExternalStore(onConnection, () => navigator.onLine);
  return isOnline ? null : (
    <p role="status">This device is offline. The page reads its records as soon as the connection is back.</p>
  );
}

function onConnection(listener: () => void): () => void {
  const stop = new AbortController();
  for (const event of ['online', 'offline']) window.addEventListener(event, listener, stop);
  return () => stop.abort();
}
