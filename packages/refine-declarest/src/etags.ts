/** Remembers the versions of the records that were read or written one by one. */
import type { Answer } from './http.js';

const MAX_RECORDS = 1_000;

export interface Etags {
  get(url: string): string | undefined;
  /** Replaces what was remembered of the record; an answer without a strong ETag removes it. */
  remember(url: string, answer: Answer): void;
  forget(url: string): void;
}

/** ETags by the URL of the record. The oldest ones are forgotten first. */
export function createEtags(): Etags {
  const etags = new Map<string, string>();
  return {
    get: (url) => etags.get(url),
    remember: (url, { headers }) => {
      etags.delete(url);
      const etag = headers.get('etag');
      // Express adds weak ETags of the body. They match no version.
      if (etag === null || !/^"[^"]*"$/.test(etag)) return;
      etags.set(url, etag);
      const [oldest] = etags.keys();
      if (etags.size > MAX_RECORDS && oldest !== undefined) etags.delete(oldest);
    },
    forget: (url) => void etags.delete(url),
  };
}
