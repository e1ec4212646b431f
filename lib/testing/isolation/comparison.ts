/** Compares two answers byte by byte, except for what the server generates. */
import type { Answer } from '../client.js';

/** Why two answers may differ. */
export type Exception = 'generated id' | 'conflict';
export type Comparison = 'same' | Exception | 'different';

const HEADERS = [
  ...['allow', 'content-disposition', 'content-type', 'etag', 'idempotency-replayed', 'link', 'location'],
  ...['retry-after', 'x-total-count'],
];

const TIME = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?|\b\d{13}\b/g;
const TOKENS = /"(\w*[tT]oken)":"[^"]*"/g;
const CURSOR = /"next":"([\w-]+)"/g;
/** Planners count records that a caller does not see, as docs/lists.md says. */
const ESTIMATE = /"total":\d+,"totalPages":\d+,"estimated":true/g;
/** The sentences of declarest for a unique value, and for a record that others refer to. */
const CONFLICT = /is already taken|already exists|other records refer to it/;

/** Whether a time lies between the creation of the databases and now. Columns may have whole seconds. */
export function isRecent(text: string, since: number): boolean {
  const readings = /^\d+$/.test(text) ? [Number(text)] : [Date.parse(text), Date.parse(`${text.replace(' ', 'T')}Z`)];
  return readings.some((time) => time >= since - 1_000 && time <= Date.now() + 1_000);
}

export function compare(method: string, first: Compared, second: Compared): Comparison {
  if (first.text === second.text) return 'same';
  if (method !== 'GET' && (first.isConflict || second.isConflict)) return 'conflict';
  return method === 'POST' && first.withoutIds === second.withoutIds ? 'generated id' : 'different';
}

/** What is compared of an answer. */
export interface Compared {
  /** Status, headers and body, without generated times and tokens. */
  readonly text: string;
  /** Also without generated ids. */
  readonly withoutIds: string;
  readonly isConflict: boolean;
}

/** @param since when the creation of the databases began, in milliseconds */
export function comparedOf(answer: Answer, since: number): Compared {
  const { status, headers, text, json } = answer;
  const { location = '' } = headers;
  const key = location.slice(location.lastIndexOf('/') + 1);
  const isId = (name: string, value: unknown): boolean => name === 'id' || (key !== '' && String(value) === key);
  const body = JSON.stringify(json, (name, value: unknown) => (isId(name, value) ? '<id>' : value)) ?? text;
  const anonymous = { ...answer, text: body, headers: { ...headers, location: location.replace(/[^/]+$/, '<id>') } };
  return {
    text: comparedText(answer, since),
    withoutIds: comparedText(anonymous, since),
    isConflict: [207, 400, 409].includes(status) && CONFLICT.test(text),
  };
}

function comparedText({ status, headers, text }: Answer, since: number): string {
  const withoutTimes = (value: string): string =>
    value.replace(TIME, (time) => (isRecent(time, since) ? '<time>' : time));
  // Express makes a weak ETag of the body, in which a time is.
  const isCompared = (name: string): boolean =>
    headers[name] !== undefined && !(name === 'etag' && headers[name].startsWith('W/'));
  const body = text
    .replace(ESTIMATE, '"estimated":true')
    .replace(TOKENS, '"$1":"<token>"')
    .replace(CURSOR, (sent, cursor: string) => {
      const position = Buffer.from(cursor, 'base64url').toString();
      return withoutTimes(position) === position ? sent : '"next":"<time>"';
    });
  const lines = HEADERS.filter(isCompared).map((name) => `${name}: ${headers[name]}`);
  return [String(status), ...lines, withoutTimes(body)].join('\n');
}
