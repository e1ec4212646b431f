/** Remembers which version of a record has which ETag. */
import type { Answer } from './http.js';
import { canonical } from './json.js';

const MAX_RECORDS = 1_000;

export interface Etags {
  /** Of exactly this content: a version that was read later has another one. */
  find(url: string, record: unknown): string | undefined;
  remember(url: string, record: unknown, answer: Answer): void;
}

/** ETags by the URL and the content of the record. The oldest ones are forgotten first. */
export function createEtags(): Etags {
  const etags = new Map<string, string>();
  return {
    find: (url, record) => etags.get(keyOf(url, record)),
    remember(url, record, answer) {
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

/** Express adds weak ETags of the body, `W/"…"`. They match no version. */
export function strongEtag({ headers }: Answer): string | undefined {
  const etag = headers.get('etag');
  return etag !== null && /^"[^"]*"$/.test(etag) ? etag : undefined;
}

const keyOf = (url: string, record: unknown): string => `${url} ${canonical(record)}`;
