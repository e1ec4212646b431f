/** The first page: the resources that the user may read, with the number of their records. */
import type { ResourceDescription } from 'ra-data-declarest/description';
import { useEffect, useState } from 'react';
import { Link, Title, useGetResourceLabel } from 'react-admin';

import { useWholeListPath } from './menu.js';
import { useService } from './service.js';

interface Counted {
  readonly metadata?: { readonly pagination?: { readonly total?: number; readonly capped?: true } };
}

const LIST = {
  display: 'grid',
  gap: '1em',
  gridTemplateColumns: 'repeat(auto-fill, minmax(12em, 1fr))',
  listStyle: 'none',
  margin: '1em 0',
  padding: 0,
} as const;
const TILE = { border: '1px solid #8888', borderRadius: '4px', padding: '1em' } as const;

export function Home() {
  const shown = useService().resources.filter(({ parent }) => !parent);
  return (
    <>
      <Title title="ra.page.dashboard" />
      <ul style={LIST}>
        {shown.map((resource) => (
          <ResourceTile key={resource.name} resource={resource} />
        ))}
      </ul>
    </>
  );
}

function ResourceTile({ resource }: { readonly resource: ResourceDescription }) {
  const { name } = resource;
  const labelOf = useGetResourceLabel();
  const pathOf = useWholeListPath();
  const count = useCount(resource);
  return (
    <li style={TILE}>
      <Link to={pathOf(name)}>{labelOf(name, 2)}</Link>
      <div>{count}</div>
    </li>
  );
}

/** `12`, or `1,000+` where counting all would take long; nothing until it is known, and where lists have no total. */
function useCount({ name, accounts }: ResourceDescription): string | undefined {
  const { data } = useService();
  const [count, setCount] = useState<string>();
  // The list of users counts all of them.
  const query = accounts ? 'size=1' : 'size=1&count=capped';
  useEffect(() => {
    const stop = new AbortController();
    const show = ({ data: { metadata } }: { readonly data: Counted }): void => {
      const { total, capped } = metadata?.pagination ?? {};
      if (total !== undefined) setCount(`${total.toLocaleString()}${capped ? '+' : ''}`);
    };
    data.custom<Counted>(`${name}?${query}`, { signal: stop.signal }).then(show, () => undefined);
    return () => stop.abort();
  }, [data, name, query]);
  return count;
}
