/** The files of a record: shown on pages and in lists, and chosen, replaced and removed on the page that edits it. */
import type { FileDescription } from 'ra-data-declarest/description';
import { type ChangeEvent, type SyntheticEvent, useEffect, useRef, useState } from 'react';
import {
  type HttpError,
  Labeled,
  type RaRecord,
  useNotify,
  useRecordContext,
  useRefresh,
  useResourceContext,
} from 'react-admin';

import { saveFile } from './save-file.js';
import { useService } from './service.js';
import { TextButton } from './text-button.js';

/** What the record has of a file. */
interface StoredFile {
  readonly key: string;
  readonly type: string;
  readonly size: number;
  readonly name: string;
}

interface StoredFileFieldProps {
  readonly source: string;
  readonly sortable?: boolean;
  readonly file: FileDescription;
  /** Whether it is a cell of a list. */
  readonly isSmall: boolean;
}

export function StoredFileField({ source, file: { isScaled }, isSmall }: StoredFileFieldProps) {
  const record = useRecordContext<RaRecord>();
  const resource = useResourceContext() ?? '';
  const stored = record?.[source] as StoredFile | null | undefined;
  if (!record || !stored) return null;
  const props = { resource, record, source, stored };
  return (
    <div>
      {stored.type.startsWith('image/') ? (
        <Picture key={stored.key} {...props} isScaled={isScaled} isSmall={isSmall} />
      ) : (
        <DownloadButton {...props} />
      )}
    </div>
  );
}

interface StoredFileProps {
  readonly resource: string;
  readonly record: RaRecord;
  readonly source: string;
  readonly stored: StoredFile;
}

interface PictureProps extends StoredFileProps {
  readonly isScaled: boolean;
  readonly isSmall: boolean;
}

const SMALL = { maxWidth: 96, height: 48, objectFit: 'contain' } as const;
/** The height stays the same when the picture is there. */
const LARGE = {
  display: 'block',
  maxWidth: '100%',
  height: 240,
  objectFit: 'scale-down',
  objectPosition: 'left top',
} as const;

/** A request of `<img>` would have no token. */
function Picture({ resource, record, source, stored, isScaled, isSmall }: PictureProps) {
  const { data } = useService();
  const [url, setUrl] = useState<string>();
  const [isBroken, setBroken] = useState(false);
  // Screens show up to two pixels for one of the page.
  const largest = isSmall ? 192 : 1280;
  const width = isScaled ? largest : undefined;
  useEffect(() => {
    const stop = new AbortController();
    const read = async () => {
      const params = { id: record.id, field: source, previousData: record, width, signal: stop.signal };
      const image = await (await data.readFile(resource, params)).blob();
      const shown = await dataUrlOf(image);
      if (!stop.signal.aborted) setUrl(shown);
    };
    read().catch(() => setBroken(!stop.signal.aborted));
    return () => stop.abort();
  }, [data, resource, record.id, source, width]);
  if (isBroken) return <DownloadButton {...{ resource, record, source, stored }} />;
  const style = isSmall ? SMALL : LARGE;
  if (url === undefined) return <div style={style} />;
  return <img src={url} alt={stored.name} style={style} onError={() => setBroken(true)} />;
}

/** The usual content security policies allow images of `data:`, but none of `blob:`. */
async function dataUrlOf(image: Blob): Promise<string> {
  const reader = new FileReader();
  await new Promise((resolve, reject) => {
    reader.addEventListener('load', resolve);
    reader.addEventListener('error', reject);
    reader.readAsDataURL(image);
  });
  return reader.result as string;
}

function DownloadButton({ resource, record, source, stored: { name, size } }: StoredFileProps) {
  const { data } = useService();
  const notify = useNotify();
  const download = async (event: SyntheticEvent) => {
    // A click on the row opens its record.
    event.stopPropagation();
    try {
      const response = await data.readFile(resource, { id: record.id, field: source, previousData: record });
      saveFile(await response.blob(), name);
    } catch (error) {
      notify((error as Error).message, { type: 'error' });
    }
  };
  const label = `${name} (${Math.ceil(size / 1000).toLocaleString()} kB)`;
  return <TextButton label={label} sx={{ textTransform: 'none' }} onClick={(event) => void download(event)} />;
}

interface StoredFileInputProps {
  readonly source: string;
  readonly label: string;
  readonly file: FileDescription;
}

const PROBLEM = { '& [role=alert]': { color: 'error.main', fontSize: '0.75rem', m: 0 } };

/** Stores a file as soon as it is chosen, because the form of the record is sent as JSON. */
export function StoredFileInput({ label, ...props }: StoredFileInputProps) {
  return (
    <Labeled label={label} sx={PROBLEM}>
      <FileChooser {...props} subject={label.toLowerCase()} />
    </Labeled>
  );
}

interface FileChooserProps extends Omit<StoredFileInputProps, 'label'> {
  readonly subject: string;
}

function FileChooser({ source, subject, file }: FileChooserProps) {
  const { data } = useService();
  const record = useRecordContext<RaRecord>();
  const resource = useResourceContext() ?? '';
  const chooser = useRef<HTMLInputElement>(null);
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<string>();
  const notify = useNotify();
  const refresh = useRefresh();
  if (!record) return null;
  const change = async (send: () => Promise<unknown>, outcome: string, name = subject) => {
    setSending(true);
    setProblem(undefined);
    try {
      await send();
      notify(`The ${subject} is ${outcome}`);
      refresh();
    } catch (error) {
      const { message, body } = error as HttpError;
      setProblem(`${name}: ${body?.errors?.[source] ?? message}`);
    } finally {
      setSending(false);
    }
  };
  const params = { id: record.id, field: source, previousData: record };
  const store = ({ target }: ChangeEvent<HTMLInputElement>) => {
    const [chosen] = target.files ?? [];
    if (chosen) void change(() => data.writeFile(resource, { ...params, file: chosen }), 'stored', chosen.name);
    // Otherwise the same file could not be chosen again.
    target.value = '';
  };
  const isStored = Boolean(record[source]);
  return (
    <div>
      <StoredFileField source={source} file={file} isSmall={false} />
      <input ref={chooser} type="file" hidden accept={file.types.join()} onChange={store} />
      <div>
        <TextButton
          label={`${isStored ? 'Replace' : 'Choose'} ${subject}`}
          disabled={isSending}
          onClick={() => chooser.current?.click()}
        />
        {isStored && (
          <TextButton
            label={`Remove ${subject}`}
            disabled={isSending}
            onClick={() => void change(() => data.deleteFile(resource, params), 'removed')}
          />
        )}
      </div>
      <small>A file is stored or removed at once, without Save.</small>
      {problem !== undefined && <p role="alert">{problem}</p>}
    </div>
  );
}
