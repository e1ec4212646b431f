/** Columns that hold what is known of a file. Its bytes are in a storage. */
import { option, readOptions } from 'declarest/plugin';
import { supportedMimeTypes } from 'file-type';
import { Column } from 'typeorm';

export interface FileColumnOptions {
  /**
   * The media types that the column takes. The bytes of a file tell its type, so each needs a signature: images, PDF, audio,
   * video and archives have one, text and SVG have none.
   * @example types: ['image/jpeg', 'image/png']
   */
  readonly types: readonly string[];
  /**
   * The most bytes of a file. A larger one is 413.
   * @example maxBytes: 5_000_000
   */
  readonly maxBytes: number;
}

/** What a file column holds. Clients read it in the record, and write it only by an upload. */
export class StoredFile {
  constructor(
    /** The name of the object in the storage, another one for each upload. */
    readonly key: string,
    /** The media type, which the bytes have told. */
    readonly type: string,
    /** In bytes. */
    readonly size: number,
    /** The name for downloads. */
    readonly name: string,
  ) {}
}

const isSigned = (type: unknown): boolean => (supportedMimeTypes as ReadonlySet<unknown>).has(type);

const OPTIONS = {
  types: option.value<readonly string[]>(
    [],
    'an array of media types with a signature',
    (types) => Array.isArray(types) && types.length > 0 && types.every(isSigned),
    'give for example ["image/jpeg", "image/png"]',
  ),
  maxBytes: option.value(
    0,
    'an integer from 1',
    (value) => Number.isSafeInteger(value) && Number(value) >= 1,
    'set for example 5_000_000',
  ),
};

/** Generated operations refuse a value for which `to` throws: no JSON of a client makes a file. */
const transformer = {
  to(value: unknown): unknown {
    if (value === null || value === undefined) return value;
    if (value instanceof StoredFile) return { ...value };
    throw new TypeError('A file column holds a StoredFile or null');
  },
  from: (held: StoredFile | null): StoredFile | null =>
    held && new StoredFile(held.key, held.type, held.size, held.name),
};

export type FileColumns = ReadonlyMap<string, FileColumnOptions>;

const COLUMNS = Symbol('declarest-files.columns');

/** The file columns of an entity by their names, those of its base classes included. */
export const fileColumnsOf = (entity: object): FileColumns =>
  (Reflect.getMetadata(COLUMNS, entity) as FileColumns | undefined) ?? new Map();

/**
 * A nullable column for a file, in place of `@Column()`. `FileCrudController` gives it endpoints.
 * @throws InvalidOptionError
 * @example @FileColumn({ types: ['image/jpeg', 'image/png'], maxBytes: 5_000_000 }) photo!: StoredFile | null;
 */
export function FileColumn(options: FileColumnOptions): (target: object, property: string) => void {
  const checked = readOptions('@FileColumn', OPTIONS, options);
  return (target, property) => {
    const { constructor } = target;
    Column({ type: 'simple-json', nullable: true, transformer })(target, property);
    Reflect.defineMetadata(COLUMNS, new Map([...fileColumnsOf(constructor), [property, checked]]), constructor);
  };
}
