/** How the values of columns are read from JSON, or given as a Date, Buffer or bigint by the application, and written. */
import { ANY_VALUE, formedText, integerSchemas, NO_NUL, sameSchemas, type ValueSchemas } from './json-schema.js';

/** The value as the entity holds it, or what it must be: "must be <expected>". */
export type Reading = { readonly value: unknown } | { readonly expected: string };

/** The values of several readings, or what the first wrong one must be. */
export const allOf = (readings: readonly Reading[]): Reading =>
  readings.find((reading) => 'expected' in reading) ?? {
    value: readings.map((reading) => ('value' in reading ? reading.value : undefined)),
  };

/** The digits of a decimal column. One without a precision takes any number of them. */
export interface Digits {
  readonly precision?: number | undefined;
  readonly scale?: number | undefined;
}

export interface ValueType {
  read(value: unknown): Reading;
  /** Reads a string of the URL, such as the id in a path. */
  readText(text: string): Reading;
  /** Makes a JSON value of the entity's value, which is not `null`. */
  write(value: unknown): unknown;
  /** From a value of a condition to one that equals what the column holds, where that differs. */
  bound?(value: unknown): unknown;
  readonly searchable: boolean;
  /** How statements compare the column with a value; `undefined` where filters and sorts cannot use it. */
  readonly comparison: ColumnKind | undefined;
  /** The type of the column in the database, if a transformer changes the values. */
  readonly stored?: ColumnKind | undefined;
  readonly digits?: Digits | undefined;
  readonly schemas: ValueSchemas;
}

/**
 * `label`: a text that the database may hold in another form, such as the value of an enum. `opaque`: a value of which
 * only the database knows when it equals another one.
 */
export type ColumnKind =
  'text' | 'label' | 'number' | 'exact number' | 'boolean' | 'moment' | 'calendar' | 'uuid' | 'opaque';
export const isOrdered = ({ comparison }: ValueType): boolean => comparison !== undefined && comparison !== 'opaque';

export const unchanged = (value: unknown): unknown => value;

const DEFAULTS = { write: unchanged, searchable: false, comparison: undefined, schemas: ANY_VALUE };

export function readerType(read: (value: unknown) => Reading, more: Partial<ValueType> = {}): ValueType {
  return { read, readText: read, ...DEFAULTS, ...more };
}

export function valueType(
  expected: string,
  accepts: (value: never) => boolean,
  more: Partial<ValueType> = {},
): ValueType {
  return readerType((value) => (accepts(value as never) ? { value } : { expected }), more);
}

export const isText = (value: unknown, form: RegExp): value is string => typeof value === 'string' && form.test(value);

export const boolean = valueType('true or false', (value) => typeof value === 'boolean', {
  readText: (text) => (/^(true|false)$/.test(text) ? { value: text === 'true' } : { expected: 'true or false' }),
  comparison: 'boolean',
  schemas: sameSchemas({ type: 'boolean' }),
});

const NUMBER = /^-?\d{1,400}(\.\d{1,400})?(e[+-]?\d{1,3})?$/i;
/** JSON has no NaN and infinity. TypeORM binds no infinity for SQLite, which reads such a text as one. */
const INFINITE = /^-?9e999$/;
const writeFloat = (value: unknown): unknown =>
  (typeof value === 'number' && !Number.isFinite(value)) || isText(value, INFINITE) ? String(Number(value)) : value;
export const isFloat = ({ write }: ValueType): boolean => write === writeFloat;

/** @param special what is bound for the names of values that JSON has not */
export function floatWith(special: ReadonlyMap<unknown, unknown>): ValueType {
  const read = (value: unknown, isRead: boolean): Reading =>
    isRead || special.has(value) ? { value: special.get(value) ?? Number(value) } : { expected: 'a number' };
  return {
    read: (value) => read(value, Number.isFinite(value)),
    readText: (text) => read(text, NUMBER.test(text) && Number.isFinite(Number(text))),
    write: writeFloat,
    searchable: true,
    comparison: 'number',
    schemas: sameSchemas({ type: 'number' }),
  };
}
export const float = floatWith(new Map());

/**
 * `JSON.parse` reads `1e400` as Infinity, which would be stored as `null`, and rounds integers beyond 53 bits. From 1e21
 * on, JavaScript writes an exponent: such a number is a size, and no id.
 */
const isExact = (value: number): boolean =>
  Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value) || Math.abs(value) >= 1e21);
export const isExactJson = (value: unknown): boolean =>
  typeof value === 'object' && value !== null
    ? Object.values(value).every(isExactJson)
    : typeof value === 'number'
      ? isExact(value)
      : typeof value !== 'bigint';
export const json = valueType(
  'a JSON value with numbers in the range of a double, and strings for integers beyond 53 bits',
  isExactJson,
);

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
export const uuid = readerType(
  (value) => (isText(value, UUID) ? { value: value.toLowerCase() } : { expected: 'a UUID' }),
  {
    searchable: true,
    comparison: 'uuid',
    schemas: formedText('[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}', {
      format: 'uuid',
      examples: ['0b6f1a52-6a0e-4f0e-9a55-0f6d1c9b7e21'],
    }),
  },
);

/** @param maxCharacters counted in code points, as databases do */
export function text(maxCharacters: number = Number.POSITIVE_INFINITY): ValueType {
  const limit = Number.isFinite(maxCharacters) ? ` of at most ${maxCharacters} characters` : '';
  return valueType(
    `text${limit}`,
    (value: unknown) => typeof value === 'string' && value.isWellFormed() && fits(value, maxCharacters),
    { searchable: true, schemas: sameSchemas({ type: 'string', ...(limit && { maxLength: maxCharacters }) }) },
  );
}

/** A code point takes at most two code units, so that long strings need not be counted. */
const fits = (value: string, max: number): boolean =>
  value.length <= max || (value.length <= max * 2 && [...value].length <= max);

/** PostgreSQL's text cannot contain NUL (its documentation, "Character Types"). */
export function textWithoutNul(maxCharacters?: number): ValueType {
  const any = text(maxCharacters);
  const read = (value: unknown): Reading =>
    typeof value === 'string' && value.includes('\0')
      ? { expected: 'text without the character NUL' }
      : any.read(value);
  return { ...any, read, readText: read, schemas: sameSchemas({ ...any.schemas.body, pattern: NO_NUL }) };
}

export function oneOf(values: readonly unknown[]): ValueType {
  const expected = `one of ${values.join(', ')}`;
  return valueType(expected, (value: unknown) => values.includes(value), {
    readText: (label) => {
      // A row may have a value that has left the enum.
      const other = label.isWellFormed() && !label.includes('\0') ? { value: label } : { expected };
      const value = values.find((each) => String(each) === label);
      return value === undefined ? other : { value };
    },
    searchable: true,
    comparison: 'label',
    schemas: sameSchemas(
      { ...(values.every((value) => typeof value === 'string') && { type: 'string' }), enum: values },
      { text: { type: 'string', enum: values.map(String) } },
    ),
  });
}

export function listOf(element: ValueType): ValueType {
  const read = (value: unknown): Reading => {
    if (!Array.isArray(value)) return { expected: 'an array' };
    const readings = value.map((each) => (each === null ? { expected: 'an array without null' } : element.read(each)));
    return allOf(readings);
  };
  const write = (value: unknown): unknown =>
    Array.isArray(value) ? value.map((each) => (each == null ? each : element.write(each))) : value;
  const { body, answer } = element.schemas;
  const list = (items: object) => ({ type: 'array', items });
  return readerType(read, { write, schemas: { ...ANY_VALUE, body: list(body), answer: list(answer) } });
}

/** Well-formed texts, stored separated by commas. A single empty one would be read back as an empty array. */
export const words = valueType(
  'an array of texts without commas, and not of one empty text',
  (value: unknown) => {
    if (!Array.isArray(value) || (value.length === 1 && value[0] === '')) return false;
    return value.every((word) => typeof word === 'string' && word.isWellFormed() && !word.includes(','));
  },
  {
    schemas: {
      ...ANY_VALUE,
      body: { type: 'array', items: { type: 'string', pattern: '^[^,]*$' }, not: { const: [''] } },
      answer: { type: 'array', items: { type: 'string' } },
    },
  },
);

const INTEGER = /^(0|-?[1-9]\d{0,19})$/;

/** Integers up to 53 bits are JSON numbers; beyond, strings of digits hold them exactly. */
export function integer(min: bigint, max: bigint): ValueType {
  const safe = min >= BigInt(Number.MIN_SAFE_INTEGER) && max <= BigInt(Number.MAX_SAFE_INTEGER);
  const range = `an integer from ${min} to ${max}`;
  const expected = safe ? range : `${range}, as a string beyond 53 bits`;
  const readText = (digits: string): Reading => {
    const exact = INTEGER.test(digits) ? BigInt(digits) : undefined;
    return exact === undefined || exact < min || exact > max ? { expected: range } : { value: safeNumber(digits) };
  };
  const read = (value: unknown): Reading => {
    const isBeyondSafe = typeof value === 'string' && !safe && !Number.isSafeInteger(Number(value));
    const isInteger = Number.isSafeInteger(value) || typeof value === 'bigint';
    const reading = isInteger || isBeyondSafe ? readText(String(value)) : undefined;
    return reading && 'value' in reading ? reading : { expected };
  };
  const comparison = safe ? 'number' : 'exact number';
  return { read, readText, write: safeNumber, searchable: true, comparison, schemas: integerSchemas(min, max) };
}

/** The number of digits; beyond 53 bits, the digits. */
export function safeNumber(value: unknown): unknown {
  if (typeof value !== 'string' && typeof value !== 'bigint') return value;
  return /^-?\d+$/.test(String(value)) && Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}

export const signed = (bits: bigint): ValueType => integer(-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n);
export const unsigned = (bits: bigint): ValueType => integer(0n, 2n ** bits - 1n);
export const safeInteger = integer(BigInt(Number.MIN_SAFE_INTEGER), BigInt(Number.MAX_SAFE_INTEGER));

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
export const bytes = readerType(
  (value) => {
    if (value instanceof Uint8Array) return { value: Buffer.from(value) };
    const isBase64 = isText(value, BASE64) && value.length % 4 === 0;
    return isBase64 ? { value: Buffer.from(value, 'base64') } : { expected: 'bytes in base64' };
  },
  {
    write: (value) =>
      value instanceof Uint8Array || value instanceof ArrayBuffer
        ? Buffer.from(value as Uint8Array).toString('base64')
        : value,
    schemas: formedText('(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?', {
      contentEncoding: 'base64',
      examples: ['aGVsbG8='],
    }),
  },
);
