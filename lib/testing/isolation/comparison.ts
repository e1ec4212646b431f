/** Compares two answers byte by byte, except for what the server generates. */
import type { Answer } from '../client.js';

/** Why two answers may differ. */
export type Exception = 'generated id' | 'conflict';

export interface Compared {
  readonly comparison: 'same' | Exception | 'different';
  /** Of the first and of the varied database. */
  readonly answers: readonly [Answer, Answer];
  /** What was compared of them: status, headers and body, without generated times and tokens. */
  readonly texts: readonly [string, string];
}

const HEADERS =
  'allow content-disposition content-type etag idempotency-replayed link location retry-after x-total-count'.split(' ');

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

/** @param since when the creation of the databases began, in milliseconds */
export function compare(method: string, answers: Compared['answers'], since: number): Compared {
  const texts = answers.map((answer) => textOf(answer, since)) as [string, string];
  return { comparison: comparisonOf(method, answers, texts, since), answers, texts };
}

function comparisonOf(
  method: string,
  answers: Compared['answers'],
  [first, second]: Compared['texts'],
  since: number,
): Compared['comparison'] {
  if (first === second) return 'same';
  if (method !== 'GET' && answers.some(tellsConflict)) return 'conflict';
  const [one, other] = answers.map((answer) => textOf(withoutIds(answer), since));
  return method === 'POST' && one === other ? 'generated id' : 'different';
}

const tellsConflict = ({ status, text }: Answer): boolean => [207, 400, 409].includes(status) && CONFLICT.test(text);

/** Without members `id`, and without the key in `Location`. */
function withoutIds(answer: Answer): Answer {
  const { location = '' } = answer.headers;
  const key = location.slice(location.lastIndexOf('/') + 1);
  const replaced = (name: string, value: unknown): unknown =>
    name === 'id' || (key !== '' && String(value) === key) ? '<id>' : value;
  const text = JSON.stringify(answer.json, replaced) ?? answer.text;
  return { ...answer, text, headers: { ...answer.headers, location: location.replace(/[^/]+$/, '<id>') } };
}

function textOf({ status, headers, text }: Answer, since: number): string {
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
