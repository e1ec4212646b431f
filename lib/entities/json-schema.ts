/** JSON Schemas of the values of columns (draft 2020-12, the dialect of OpenAPI 3.1). */

export type JsonSchema = Readonly<Record<string, unknown>>;

/** How the document of the API describes the values of a type, which are not `null`. */
export interface ValueSchemas {
  readonly body: JsonSchema;
  readonly answer: JsonSchema;
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

export function orNull(schema: JsonSchema): JsonSchema {
  const { type, enum: values, anyOf } = schema;
  if (Object.keys(schema).length === 0) return schema;
  const members = {
    ...(type !== undefined && { type: [type, 'null'].flat() }),
    ...(Array.isArray(values) && { enum: [...(values as unknown[]), null] }),
    ...(Array.isArray(anyOf) && { anyOf: [...(anyOf as unknown[]), { type: 'null' }] }),
  };
  return Object.keys(members).length > 0 ? { ...schema, ...members } : { anyOf: [schema, { type: 'null' }] };
}

export const ANY_VALUE: ValueSchemas = sameSchemas({}, { text: { type: 'string' } });

/** A text with a form. @param pattern of the whole text */
export const formedText = (pattern: string, more: JsonSchema = {}): ValueSchemas =>
  sameSchemas({ type: 'string', pattern: `^(?:${pattern})$`, ...more }, { pattern });

export const NO_NUL = '^[^\\u0000]*$';

/** The form of a day: a pattern does not say how many days each month has. */
export const DAY = '\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])';

const HOUR = '(?:[01]\\d|2[0-3])';
/** Zeros may follow what the column holds: what ECMAScript writes has three digits. */
function fractionOf(digits: number, most: number): string {
  const zeros = digits < most ? `0{0,${most - digits}}` : '';
  return digits > 0 ? `(?:\\.\\d{1,${digits}}${zeros})?` : `(?:\\.0{1,${most}})?`;
}
const timeWith = (fraction: string): string => `${HOUR}:[0-5]\\d(?::[0-5]\\d${fraction})?`;
/** @param digits of a second that the column holds */
export const timeOfDay = (digits: number): string => timeWith(fractionOf(digits, 6));
export const momentOf = (digits: number): string =>
  `${DAY}(?:[T ]${timeWith(fractionOf(digits, 9))}(?:Z|[+-]${HOUR}:?[0-5]\\d)?)?`;

const SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/** Integers beyond 53 bits are texts. A text has the form of an integer of so many digits: a pattern has no range. */
export function integerSchemas(min: bigint, max: bigint): ValueSchemas {
  const sign = min < 0n ? '-?' : '';
  const digits = String(max > -min ? max : -min).length;
  const pattern = `0|${sign}[1-9]\\d{0,${digits - 1}}`;
  const isSafe = min >= -SAFE && max <= SAFE;
  const number = {
    type: 'integer',
    minimum: Number(min < -SAFE ? -SAFE : min),
    maximum: Number(max > SAFE ? SAFE : max),
  };
  if (isSafe) return sameSchemas(number, { pattern });
  const beyond = { type: 'string', pattern: `^${sign}[1-9]\\d{${String(SAFE).length - 1},${digits - 1}}$` };
  return sameSchemas({ anyOf: [number, beyond] }, { answer: { type: ['integer', 'string'] }, pattern });
}

export const literally = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
