/** What filters and sorts must do, as plain functions over values of JSON. */

export type Kind = 'text' | 'number' | 'digits' | 'moment';

/** As a filter compares them: text by code points, digits as exact numbers. */
function comparable(kind: Kind, value: unknown): number | string | null {
  if (value === null || value === undefined) return null;
  // Digits of one length compare as text.
  if (kind === 'digits') return (BigInt(String(value)) + 10n ** 18n).toString().padStart(20, '0');
  if (kind === 'number') return Number(value);
  if (kind === 'moment') return new Date(String(value)).getTime();
  return String(value);
}

/** Below 0 where the first comes first; `undefined` where one is NULL. */
export function order(kind: Kind, a: unknown, b: unknown): number | undefined {
  const [left, right] = [comparable(kind, a), comparable(kind, b)];
  if (left === null || right === null) return undefined;
  if (typeof left === 'string') return Buffer.compare(Buffer.from(left), Buffer.from(String(right)));
  return left - Number(right);
}

const holds = (test: (order: number) => boolean, compared: number | undefined): boolean =>
  compared !== undefined && test(compared);
const like = (value: unknown, test: (text: string) => boolean): boolean =>
  value !== null && value !== undefined && test(String(value));

type Matches = (kind: Kind, value: unknown, sent: readonly string[]) => boolean;

/** Whether a value matches, by operator. */
export const MATCHES: Readonly<Record<string, Matches>> = {
  eq: (kind, value, [sent]) => order(kind, value, sent) === 0,
  ne: (kind, value, [sent]) => order(kind, value, sent) !== 0,
  gt: (kind, value, [sent]) => holds((each) => each > 0, order(kind, value, sent)),
  gte: (kind, value, [sent]) => holds((each) => each >= 0, order(kind, value, sent)),
  lt: (kind, value, [sent]) => holds((each) => each < 0, order(kind, value, sent)),
  lte: (kind, value, [sent]) => holds((each) => each <= 0, order(kind, value, sent)),
  in: (kind, value, sent) => sent.some((each) => order(kind, value, each) === 0),
  nin: (kind, value, sent) => !sent.some((each) => order(kind, value, each) === 0),
  between: (kind, value, [least, most]) =>
    holds((each) => each >= 0, order(kind, value, least)) && holds((each) => each <= 0, order(kind, value, most)),
  contains: (_, value, [sent = '']) => like(value, (text) => text.includes(sent)),
  icontains: (_, value, [sent = '']) => like(value, (text) => text.toLowerCase().includes(sent.toLowerCase())),
  startsWith: (_, value, [sent = '']) => like(value, (text) => text.startsWith(sent)),
  endsWith: (_, value, [sent = '']) => like(value, (text) => text.endsWith(sent)),
  isNull: (_, value, [sent]) => (value === null || value === undefined) === (sent === 'true'),
};

/** NULLs come last ascending, and first descending. */
export function inOrder(kind: Kind, a: unknown, b: unknown, descending: boolean): number {
  const ascending = order(kind, a, b) ?? (a === null ? 1 : 0) - (b === null ? 1 : 0);
  return descending ? -ascending : ascending;
}
