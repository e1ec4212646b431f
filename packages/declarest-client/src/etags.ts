/** Remembers the versions of records, so that a change is sent with the version that the user saw. */
import { canonical } from './json.js';
import type { Answer } from './requests.js';

const MAX_VERSIONS = 1_000;

export interface Etags {
  /**
   * The ETag of the version that the user saw.
   *
   * @param seen the record of that version. Where a front end does not say, it is the version that was read last.
   */
  find(url: string, seen?: unknown): string | undefined;
  /** @param record as the front end gets it */
  remember(url: string, record: unknown, answer: Answer): void;
  forget(url: string): void;
}

interface Version {
  readonly url: string;
  readonly content: string;
  /** `undefined` where the answer has none, such as one with selected fields. */
  readonly etag: string | undefined;
}

/** ETags by URL and content: a record that was read again meanwhile has other content. The oldest are forgotten first. */
export function createEtags(): Etags {
  let versions: readonly Version[] = [];
  return {
    find: (url, seen) => {
      const content = seen === undefined ? undefined : canonical(seen);
      const isSeen = (each: Version): boolean => each.url === url && (content ?? each.content) === each.content;
      return versions.findLast(isSeen)?.etag;
    },
    remember: (url, record, answer) => {
      const content = canonical(record);
      const known = versions.find((each) => each.url === url && each.content === content);
      const version = { url, content, etag: strongEtag(answer) ?? known?.etag };
      // A resource without versions takes no place.
      if (version.etag === undefined && !versions.some((each) => each.url === url)) return;
      versions = [...versions.filter((each) => each !== known), version].slice(-MAX_VERSIONS);
    },
    forget: (url) => {
      versions = versions.filter((each) => each.url !== url);
    },
  };
}

/** Express adds weak ETags of the body, which match no version. */
export function strongEtag({ headers }: Answer): string | undefined {
  const etag = headers.get('etag');
  return etag !== null && /^"[^"]*"$/.test(etag) ? etag : undefined;
}
