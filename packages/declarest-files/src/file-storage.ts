import type { Readable } from 'node:stream';

/** An object of a storage. */
export interface StoredObject {
  readonly key: string;
  readonly changedAt: Date;
}

/** The first and the last byte, counted from 0. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Where the bytes of files are: `diskStorage(…)`, `s3Storage(…)` of `declarest-files/s3`, or one of your own. Objects are
 * written once and never changed. A request whose call throws is answered with 503.
 */
export interface FileStorage {
  /** Resolves when the bytes cannot be lost any more. @param type the media type @throws what `bytes` throws */
  write(key: string, bytes: Readable, type: string): Promise<void>;
  /** @returns `undefined` where there is no such object */
  read(key: string, range?: ByteRange): Promise<Readable | undefined>;
  /** Does nothing where there is no such object. */
  remove(key: string): Promise<void>;
  /** The objects whose keys begin with the prefix, which ends with a slash. */
  list(prefix: string): AsyncIterable<StoredObject>;
}
