/** Remembers the versions of records, so that a change is sent with the version that the user saw. */
import type { Answer } from './http.js';
import { canonical } from './json.js';

const MAX_RECORDS = 500;

export interface Etags {
  /** The ETag that the record had when it was answered with exactly this content. */
  find(url: string, record: unknown): string | undefined;
  remember(url: string, record: unknown, answer: Answer): void;
}

/** ETags by URL and content: a record that was read again meanwhile has other content. The oldest are forgotten first. */
export function createEtags(): Etags {
  const etags = new Map<string, string>();
  const keyOf = (url: string, record: unknown): string => `${url} ${canonical(record)}`;
  return {
    find: (url, record) => etags.get(keyOf(url, record)),
    remember: (url, record, answer) => {
      const etag = strongEtag(answer);
      if (etag === undefined) return;
      const key = keyOf(url, record);
      etags.delete(key);
      etags.set(key, etag);
      const [oldest] = etags.keys();
      if (etags.size > MAX_RECORDS && oldest !== undefined) etags.delete(oldest);
    },
  };
}

/** Express adds weak ETags of the body, which match no version. */
export function strongEtag({ headers }: Answer): string | undefined {
  const etag = headers.get('etag');
  return etag !== null && /^"[^"]*"$/.test(etag) ? etag : undefined;
}
