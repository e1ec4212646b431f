/** Remembers the versions of records, so that a change is sent with the version that the user saw. */
import { Failure } from './failure.js';
import { canonical } from './json.js';
import type { Answer } from './requests.js';

const MAX_VERSIONS = 1_000;

export interface Etags {
  /**
   * The ETag of the version that the user saw.
   *
   * @param seen the record of that version. Where a front end does not say, it is the version that was read last.
   * @throws Failure where the answer had a tag that names no version: without `If-Match`, the change could undo another one
   */
  find(url: string, seen?: unknown): string | undefined;
  /** @param record as the front end gets it */
  remember(url: string, record: unknown, answer: Answer): void;
  forget(url: string): void;
}

interface Version {
  readonly url: string;
  readonly content: string;
  /** As it was received; `undefined` where the answer has none, such as one with selected fields. */
  readonly etag: string | undefined;
}

/** ETags by URL and content: a record that was read again meanwhile has other content. The oldest are forgotten first. */
export function createEtags(): Etags {
  let versions: readonly Version[] = [];
  return {
    find: (url, seen) => {
      const content = seen === undefined ? undefined : canonical(seen);
      const isSeen = (each: Version): boolean => each.url === url && (content ?? each.content) === each.content;
      return strongTag(versions.findLast(isSeen)?.etag, url);
    },
    remember: (url, record, answer) => {
      const content = canonical(record);
      const known = versions.find((each) => each.url === url && each.content === content);
      const version = { url, content, etag: tagOf(answer) ?? known?.etag };
      // A resource without versions takes no place.
      if (version.etag === undefined && !versions.some((each) => each.url === url)) return;
      versions = [...versions.filter((each) => each !== known), version].slice(-MAX_VERSIONS);
    },
    forget: (url) => {
      versions = versions.filter((each) => each.url !== url);
    },
  };
}

/** What proxies that compress add to the text of a tag. They may also weaken the tag. */
const CODING = '(?:(?:--?|;)gzip|-(?:br|zstd|deflate))?';
/** Versions are numbers or dates. */
const OF_VERSION = new RegExp(String.raw`^(?:W/)?"(\d[\d.:TZ+-]*?)${CODING}"$`);
/** Express adds a tag of the body to answers without one. It is the length and a hash, and names no version. */
const OF_BODY = new RegExp(`^(?:W/)?"[\\da-f]+-[\\w+/-]{27}${CODING}"$`);

function tagOf({ headers }: Answer): string | undefined {
  const tag = headers.get('etag');
  return tag === null || OF_BODY.test(tag) ? undefined : tag;
}

function strongTag(tag: string | undefined, url: string): string | undefined {
  const version = tag === undefined ? undefined : OF_VERSION.exec(tag)?.[1];
  if (version !== undefined) return `"${version}"`;
  if (tag === undefined || /^"[^"]*"$/.test(tag)) return tag;
  throw new Failure(
    `The ETag of ${url} must be a strong one, got ${tag}, so the change cannot name the version that it is for. Let no proxy change the ETag.`,
    400,
  );
}

/**
 * The ETag as the server has sent it, for `If-Match`.
 *
 * @throws Failure where a tag has become one that names no version
 */
export const strongEtag = (answer: Answer): string | undefined => strongTag(tagOf(answer), answer.request.url);
