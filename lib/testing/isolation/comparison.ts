/** Compares the answers of two databases, except for what differs between two equal ones. */
import type { Answer } from '../client.js';

/** Why two answers may differ. */
export type Exception = 'generated id' | 'conflict';

/** The answers with a database, with an equal one, and with the varied one. */
export type Answers = readonly [first: Answer, equal: Answer, varied: Answer];

export interface Compared {
  readonly comparison: 'same' | Exception | 'different';
  /** The answers with the first and with the varied database. */
  readonly answers: readonly [Answer, Answer];
  /** What was compared of them: status, headers and body, without generated times, and without what is random. */
  readonly texts: readonly [string, string];
}

/** Headers that depend on the connection, or on the moment. */
const IGNORED = ['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding'];

const TIME =
  /\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?|\b\d{13}\b|\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT/g;
const CURSOR = /"next":"([\w-]+)"/g;
/** Planners count records that a caller does not see, as docs/tasks/lists.md says. */
const ESTIMATE = /"total":\d+,"totalPages":\d+,"estimated":true/g;
/** The sentences of declarest for a unique value, and for a record that others refer to. */
const CONFLICT = /is already taken|already exists|other records refer to it/;
const RANDOM = '<random>';

/** Whether a time lies between the creation of the databases and now. Columns may have whole seconds. */
export function isRecent(text: string, since: number): boolean {
  const readings = /^\d+$/.test(text) ? [Number(text)] : [Date.parse(text), Date.parse(`${text.replace(' ', 'T')}Z`)];
  return readings.some((time) => time >= since - 1_000 && time <= Date.now() + 1_000);
}

/**
 * @param isOfPackage whether an operation of the package answers, whose conflicts tell of unique values
 * @param since when the creation of the databases began, in milliseconds
 */
export function compare(method: string, isOfPackage: boolean, answers: Answers, since: number): Compared {
  const [first, , varied] = answers;
  const texts = textsOf(answers, since);
  const comparison = (): Compared['comparison'] => {
    if (texts[0] === texts[1]) return 'same';
    if (method !== 'GET' && isOfPackage && (tellsConflict(first) || tellsConflict(varied))) return 'conflict';
    const [one, other] = textsOf(answers.map(withoutIds) as unknown as Answers, since);
    return method === 'POST' && one === other ? 'generated id' : 'different';
  };
  return { comparison: comparison(), answers: [first, varied], texts };
}

const tellsConflict = ({ status, text }: Answer): boolean => [207, 400, 409].includes(status) && CONFLICT.test(text);

/** Without members `id`, and without the key in `Location`. */
function withoutIds(answer: Answer): Answer {
  const { etag, location = '', ...headers } = answer.headers;
  const key = location.slice(location.lastIndexOf('/') + 1);
  const replaced = (name: string, value: unknown): unknown =>
    name === 'id' || (key !== '' && String(value) === key) ? '<id>' : value;
  const text = JSON.stringify(answer.json, replaced) ?? answer.text;
  const kept = {
    ...(location !== '' && { location: location.replace(/[^/]+$/, '<id>') }),
    // It is made of the body.
    ...(etag !== undefined && text === answer.text && { etag }),
  };
  return { ...answer, text, json: answer.json && JSON.parse(text), headers: { ...headers, ...kept } };
}

/** What is compared of the first and of the varied database. */
function textsOf(answers: Answers, since: number): [string, string] {
  const [first, equal, varied] = answers;
  const bodies = bodiesOf(answers, since);
  // An entity tag is made of the body.
  const isExcepted = bodies[0] !== first.text || bodies[1] !== varied.text;
  const names = [...new Set([...Object.keys(first.headers), ...Object.keys(varied.headers)])].filter(
    (name) =>
      !IGNORED.includes(name) &&
      !(isExcepted && name === 'etag') &&
      withoutTimes(first.headers[name] ?? '', since) === withoutTimes(equal.headers[name] ?? '', since),
  );
  return [first, varied].map(({ status, headers }, place) => {
    const lines = names.toSorted().flatMap((name) => (headers[name] === undefined ? [] : `${name}: ${headers[name]}`));
    const type = lines.filter((line) => line.startsWith('content-type:'));
    const others = lines.filter((line) => !type.includes(line)).map((line) => withoutTimes(line, since));
    return [String(status), ...type, bodies[place], ...others].join('\n');
  }) as [string, string];
}

const withoutTimes = (text: string, since: number): string =>
  text.replace(TIME, (time) => (isRecent(time, since) ? '<time>' : time));

/** Where the two equal databases differ, the answer is random. */
function bodiesOf(answers: Answers, since: number): [string, string] {
  const plain = (text: string): string =>
    withoutTimes(
      text.replace(ESTIMATE, '"estimated":true').replace(CURSOR, (sent, cursor: string) => {
        const position = Buffer.from(cursor, 'base64url').toString();
        return withoutTimes(position, since) === position ? sent : '"next":"<time>"';
      }),
      since,
    );
  const [first, equal, varied] = answers.map(({ text }) => plain(text)) as [string, string, string];
  if (first === equal) return [first, varied];
  const [json, twin, other] = answers.map((answer) => answer.json as unknown);
  if (json === undefined || twin === undefined || other === undefined)
    return [withoutRandomWords(first, first, equal), withoutRandomWords(varied, first, equal)];
  return [json, other].map((value) => plain(JSON.stringify(withoutRandom(value, json, twin)))) as [string, string];
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/** Replaces what is at a place where the two equal values differ. */
function withoutRandom(value: unknown, first: unknown, equal: unknown): unknown {
  if (isObject(first) && isObject(equal)) {
    if (!isObject(value)) return value;
    const members = Object.entries(value).map(([name, each]) => [name, withoutRandom(each, first[name], equal[name])]);
    return Array.isArray(value) ? members.map(([, each]) => each) : Object.fromEntries(members);
  }
  return JSON.stringify(first) === JSON.stringify(equal) ? value : RANDOM;
}

/** As `withoutRandom`, for words of a text. */
function withoutRandomWords(text: string, first: string, equal: string): string {
  const [words, one, other] = [text, first, equal].map((each) => each.split(/\b/)) as [string[], string[], string[]];
  return words.map((word, place) => (one[place] === other[place] ? word : RANDOM)).join('');
}
