/** Remembers which version of a record has which ETag. */
import type { Answer } from './http.js';

const MAX_RECORDS = 1_000;

export interface Etags {
  /** Of exactly this content, so that a version that was fetched later does not count. */
  find(url: string, record: unknown): string | undefined;
  remember(url: string, record: unknown, answer: Answer): void;
}

/** ETags by the URL and the content of the record. The oldest ones are forgotten first. */
export function createEtags(): Etags {
  const etags = new Map<string, string>();
  return {
    find: (url, record) => etags.get(keyOf(url, record)),
    remember(url, record, { headers }) {
      const etag = headers.get('etag');
      // Express adds weak ETags of the body. They match no version.
      if (etag === null || !/^"[^"]*"$/.test(etag)) return;
      const key = keyOf(url, record);
      etags.delete(key);
      etags.set(key, etag);
      const [oldest] = etags.keys();
      if (etags.size > MAX_RECORDS && oldest !== undefined) etags.delete(oldest);
    },
  };
}

/** Members in the order of their names: react-query may copy a record. */
const keyOf = (url: string, record: unknown): string =>
  `${url} ${JSON.stringify(record, (_, value: unknown) => (isPlain(value) ? Object.fromEntries(sorted(value)) : value))}`;

const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const sorted = (value: object): [string, unknown][] =>
  Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
