/** JSON Schemas of the values of columns (draft 2020-12, the dialect of OpenAPI 3.1). Patterns need no flag `u`. */

export type JsonSchema = Readonly<Record<string, unknown>>;

/** How the document of the API describes the values of a type, which are not `null`. */
export interface ValueSchemas {
  readonly body: JsonSchema;
  readonly answer: JsonSchema;
  readonly text: JsonSchema;
}

/** A schema of its own in a document, which others refer to. */
export interface NamedSchema {
  readonly name: string;
  readonly schema: JsonSchema;
}

export const refTo = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

/** The same in bodies, answers and URLs, apart from what `more` says. */
export const sameSchemas = (body: JsonSchema, more: Partial<ValueSchemas> = {}): ValueSchemas => {
  return { body, answer: body, text: body, ...more };
};

export function acceptsNull({ type, anyOf, enum: values, ...rest }: JsonSchema): boolean {
  if (Array.isArray(values)) return values.includes(null);
  if (Array.isArray(anyOf)) return (anyOf as JsonSchema[]).some(acceptsNull);
  return type === undefined ? Object.keys(rest).length === 0 : [type].flat().includes('null');
}

export function orNull(schema: JsonSchema): JsonSchema {
  const { type, anyOf } = schema;
  if (Object.keys(schema).length === 0) return schema;
  // Generators leave `null` out of a list of types beside `enum`.
  if ('$ref' in schema || 'enum' in schema) return { anyOf: [schema, { type: 'null' }] };
  return {
    ...schema,
    ...(type !== undefined && { type: [type, 'null'].flat() }),
    ...(Array.isArray(anyOf) && { anyOf: [...(anyOf as unknown[]), { type: 'null' }] }),
  };
}

export const ANY_VALUE: ValueSchemas = sameSchemas({}, { text: { type: 'string' } });

/** A text with a form. @param pattern of the whole text */
export const formedText = (pattern: string, more: JsonSchema = {}): ValueSchemas =>
  sameSchemas({ type: 'string', pattern: `^(?:${pattern})$`, ...more });

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

const moment = formedText(momentOf(3), { examples: ['2026-01-31T09:30:00Z'] }).body;
export const MOMENT: NamedSchema = { name: 'Moment', schema: moment };

const SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/** Alternatives, because generators and proxies take a list of types for text. The document has each schema once. */
const integer64 = (name: string, minimum: bigint, pattern: string): NamedSchema => {
  const number = { type: 'integer', minimum: Number(minimum), maximum: Number(SAFE) };
  return { name, schema: { anyOf: [number, { type: 'string', pattern }] } };
};
export const INTEGERS = {
  signed: integer64('Integer64', -SAFE, String.raw`^-?[1-9]\d{15,18}$`),
  unsigned: integer64('UnsignedInteger64', 0n, String.raw`^[1-9]\d{15,19}$`),
};

export const BIG_INTEGERS = sameSchemas(
  { anyOf: [{ type: 'integer' }, { type: 'string', pattern: String.raw`^-?\d{1,400}$` }] },
  { text: { type: 'string' } },
);

export function integerSchemas(min: bigint, max: bigint): ValueSchemas {
  const { name } = INTEGERS[min < 0n ? 'signed' : 'unsigned'];
  if (min < -SAFE || max > SAFE) return sameSchemas(refTo(name), { answer: { type: ['integer', 'string'] } });
  // No number of JSON is exact beyond 53 bits.
  const bounds = (min !== -SAFE || max !== SAFE) && { minimum: Number(min), maximum: Number(max) };
  return sameSchemas({ type: 'integer', ...bounds }, { answer: { type: 'integer' } });
}
