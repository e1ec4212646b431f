/** Downloads every record of a list: as the export of the server, or else page by page. */
import type { ResourceDescription } from 'ra-data-declarest/description';
import { useState } from 'react';
import { defaultExporter, type RaRecord, useDataProvider, useListContext, useNotify } from 'react-admin';

import { useMayDo } from './permitted.js';
import { saveFile } from './save-file.js';
import { useService } from './service.js';
import { TextButton } from './text-button.js';

const PAGE = 100;

export function WholeExportButton({ resource: { name, hasExport } }: { readonly resource: ResourceDescription }) {
  const { filterValues: filter, sort, total } = useListContext();
  const { data } = useService();
  const dataProvider = useDataProvider();
  const notify = useNotify();
  const [progress, setProgress] = useState<string>();
  const mayExport = useMayDo('export', name) && hasExport;

  const saveExport = async () => {
    const { body } = await data.export(name, { filter, sort });
    const parts: Uint8Array<ArrayBuffer>[] = [];
    let size = 0;
    const reader = body?.getReader();
    for (let part = await reader?.read(); part?.value; part = await reader?.read()) {
      parts.push(part.value);
      size += part.value.length;
      setProgress(`${Math.ceil(size / 1000)} kB`);
    }
    const file = `${name.replaceAll('/', '-')}.csv`;
    saveFile(new Blob(parts, { type: 'text/csv' }), file);
    notify(`The export is saved as ${file}`);
  };
  const savePages = async () => {
    const records: RaRecord[] = [];
    for (let page = 1, hasNext = true; hasNext; page += 1) {
      const pagination = { page, perPage: PAGE };
      const list = await data.getList(name, { filter, sort, pagination });
      records.push(...list.data);
      hasNext = list.pageInfo?.hasNextPage ?? records.length < (list.total ?? 0);
      setProgress(list.total === undefined ? `${records.length}` : `${records.length} / ${list.total}`);
    }
    // Its promise does not settle.
    void defaultExporter(records, () => Promise.resolve({}), dataProvider, name);
    notify(records.length === 1 ? '1 record exported' : `${records.length.toLocaleString()} records exported`);
  };
  const save = async () => {
    setProgress('0');
    try {
      // The export of the server does not search.
      await (mayExport && !filter['q'] ? saveExport() : savePages());
    } catch (error) {
      notify((error as Error).message, { type: 'error' });
    } finally {
      setProgress(undefined);
    }
  };
  const isSaving = progress !== undefined;
  const label = isSaving ? `Exporting: ${progress}` : 'ra.action.export';
  return <TextButton label={label} disabled={isSaving || total === 0} onClick={() => void save()} />;
}
