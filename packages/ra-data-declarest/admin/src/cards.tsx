/** The records of a list below each other, where a table does not fit. */
import { type ReactElement, useSyncExternalStore } from 'react';
import { Labeled, ListNoResults, Loading, RecordContextProvider, useListContext } from 'react-admin';

import { valueAt } from './value-at.js';

const NARROW = '(max-width: 599.95px)';
const CARD = { display: 'grid', gap: '0.5em', padding: '1em', borderBottom: '1px solid #8888' } as const;

export function useIsNarrow(): boolean {
  return useSyncExternalStore(onResize, () => window.matchMedia(NARROW).matches);
}

function onResize(listener: () => void): () => void {
  const query = window.matchMedia(NARROW);
  query.addEventListener('change', listener);
  return () => query.removeEventListener('change', listener);
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === '' || (Array.isArray(value) && value.length === 0);

/** What is empty takes no room. @param columns those of the table */
export function Cards({ columns }: { readonly columns: readonly ReactElement<{ readonly source: string }>[] }) {
  const { data = [], isPending } = useListContext();
  if (isPending) return <Loading />;
  if (data.length === 0) return <ListNoResults />;
  return data.map((record) => (
    <RecordContextProvider key={record.id} value={record}>
      <article style={CARD}>
        {columns
          .filter(({ props: { source } }) => !isEmpty(valueAt(record, source)))
          .map((column) => (column.props.source ? <Labeled key={column.props.source}>{column}</Labeled> : column))}
      </article>
    </RecordContextProvider>
  ));
}
