/** JSON Schemas of the values of columns (draft 2020-12, the dialect of OpenAPI 3.1). */

export type JsonSchema = Readonly<Record<string, unknown>>;

/** How the document of the API describes the values of a type, which are not `null`. */
export interface ValueSchemas {
  /** What a body may have. */
  readonly body: JsonSchema;
  /** What answers have. */
  readonly answer: JsonSchema;
  /** What a URL may have: an id, or the value of a filter. */
  readonly text: JsonSchema;
  /** The regular expression of such a text in a list; `undefined` for any text. */
  readonly pattern: string | undefined;
}

/** The same in bodies, answers and URLs, apart from what `more` says. */
export const sameSchemas = (body: JsonSchema, more: Partial<ValueSchemas> = {}): ValueSchemas => ({
  body,
  answer: body,
  text: body,
  pattern: undefined,
  ...more,
});

export function acceptsNull({ type, anyOf, enum: values, ...rest }: JsonSchema): boolean {
  if (Array.isArray(values)) return values.includes(null);
  if (Array.isArray(anyOf)) return (anyOf as JsonSchema[]).some(acceptsNull);
  return type === undefined ? Object.keys(rest).length === 0 : [type].flat().includes('null');
}

/** Of a value that may be `null` too. */
export function orNull(schema: JsonSchema): JsonSchema {
  const { type, enum: values } = schema;
  if (Object.keys(schema).length === 0) return schema;
  if (Array.isArray(values))
    return {
      ...schema,
      ...(type !== undefined && { type: [type, 'null'].flat() }),
      enum: [...(values as unknown[]), null],
    };
  if (type === undefined)
    return Array.isArray(schema['anyOf'])
      ? { ...schema, anyOf: [...(schema['anyOf'] as JsonSchema[]), { type: 'null' }] }
      : { anyOf: [schema, { type: 'null' }] };
  return { ...schema, type: [type, 'null'].flat() };
}

export const ANY_VALUE: ValueSchemas = sameSchemas({}, { text: { type: 'string' } });

/** A text with a form. @param pattern of the whole text */
export const formedText = (pattern: string, more: JsonSchema = {}): ValueSchemas =>
  sameSchemas({ type: 'string', pattern: `^(?:${pattern})$`, ...more }, { pattern });

export const NO_NUL = '^[^\\u0000]*$';

/** A day of the Gregorian calendar, years 0001 to 9999. */
const LEAP_YEAR = '(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)';
const DAY_OF_YEAR =
  '(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))';
export const DAY = `(?!0000)(?:\\d{4}-${DAY_OF_YEAR}|${LEAP_YEAR}-02-29)`;

const HOUR = '(?:[01]\\d|2[0-3])';
export const timeOfDay = (digits: number): string => `${HOUR}:[0-5]\\d(?::[0-5]\\d(?:\\.\\d{1,${digits}})?)?`;
export const MOMENT = `${DAY}(?:[T ]${timeOfDay(9)}(?:Z|[+-]${HOUR}:?[0-5]\\d)?)?`;

const SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/** Integers beyond 53 bits are texts. @param name of a type that has such integers */
export function integerSchemas(min: bigint, max: bigint): ValueSchemas {
  const pattern = integersBetween(min, max);
  const isSafe = min >= -SAFE && max <= SAFE;
  const number = {
    type: 'integer',
    minimum: Number(min < -SAFE ? -SAFE : min),
    maximum: Number(max > SAFE ? SAFE : max),
  };
  if (isSafe) return sameSchemas(number, { pattern });
  const beyond = [
    ...(min < -SAFE ? [`-${digitsBetween(SAFE + 1n, -min)}`] : []),
    ...(max > SAFE ? [digitsBetween(SAFE + 1n, max)] : []),
  ];
  const body = { anyOf: [number, { type: 'string', pattern: `^(?:${beyond.join('|')})$` }] };
  return sameSchemas(body, { answer: { type: ['integer', 'string'] }, pattern });
}

/** The regular expression of the integers of a range, without leading zeros. */
const integersBetween = (min: bigint, max: bigint): string =>
  [
    ...(min <= 0n ? ['0'] : []),
    ...(max > 0n ? [digitsBetween(min > 0n ? min : 1n, max)] : []),
    ...(min < 0n ? [`-${digitsBetween(1n, -min)}`] : []),
  ].join('|');

/** @param low at least 1 */
function digitsBetween(low: bigint, high: bigint): string {
  const parts: string[] = [];
  for (let size = String(low).length; size <= String(high).length; size += 1) {
    const [least, most] = [10n ** BigInt(size - 1), 10n ** BigInt(size) - 1n];
    parts.push(sameLength(String(low > least ? low : least), String(high < most ? high : most)));
  }
  return `(?:${parts.join('|')})`;
}

/** Of texts of digits with the same length. */
function sameLength(low: string, high: string): string {
  if (low === high) return low;
  if (/^0*$/.test(low) && /^9*$/.test(high)) return `\\d{${low.length}}`;
  const [first, last] = [Number(low[0]), Number(high[0])];
  const [lowRest, highRest] = [low.slice(1), high.slice(1)];
  if (lowRest === '') return `[${first}-${last}]`;
  if (first === last) return `${first}${sameLength(lowRest, highRest)}`;
  const parts: string[] = [];
  const isFromZero = /^0*$/.test(lowRest);
  const isToNine = /^9*$/.test(highRest);
  if (!isFromZero) parts.push(`${first}${sameLength(lowRest, '9'.repeat(lowRest.length))}`);
  const [from, to] = [isFromZero ? first : first + 1, isToNine ? last : last - 1];
  if (from <= to) parts.push(`${from === to ? from : `[${from}-${to}]`}\\d{${lowRest.length}}`);
  if (!isToNine) parts.push(`${last}${sameLength('0'.repeat(highRest.length), highRest)}`);
  return `(?:${parts.join('|')})`;
}

/** For a text that stands for itself in a regular expression. */
export const literally = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
