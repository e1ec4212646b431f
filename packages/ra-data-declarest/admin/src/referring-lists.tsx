/** Links from a record to the lists of those that refer to it. */
import type { ResourceDescription } from 'ra-data-declarest/description';
import { Link, useCreatePath, useGetResourceLabel, useRecordContext } from 'react-admin';

import { labelOf } from './fields.js';
import { useMay } from './permitted.js';
import { useService } from './service.js';

const LINKS = { display: 'flex', flexWrap: 'wrap', gap: '1em', padding: '1em' } as const;

export function ReferringLists({ to: { name } }: { readonly to: ResourceDescription }) {
  const record = useRecordContext();
  const { resources } = useService();
  const may = useMay();
  const createPath = useCreatePath();
  const nameOf = useGetResourceLabel();
  if (!record) return null;
  const links = resources.flatMap((resource) => {
    // A nested resource has no list of its own.
    if (resource.parent) return [];
    const fields = resource.fields.filter(
      ({ reference, filter, readers }) => reference === name && filter === 'value' && may(readers),
    );
    return fields.map((field) => {
      const query = new URLSearchParams({ filter: JSON.stringify({ [field.name]: record.id }) });
      const label = nameOf(resource.name, 2);
      return {
        path: `${createPath({ resource: resource.name, type: 'list' })}?${query.toString()}`,
        text: fields.length > 1 ? `${label} (${labelOf(field.name)})` : label,
      };
    });
  });
  if (links.length === 0) return null;
  return (
    <div style={LINKS}>
      See also:
      {links.map(({ path, text }) => (
        <Link key={path} to={path}>
          {text}
        </Link>
      ))}
    </div>
  );
}
