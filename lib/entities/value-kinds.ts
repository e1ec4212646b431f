/**
 * The kinds of value a column may hold, and how each is read from JSON and written to it. A column of another kind is
 * a new row in a table here.
 */

/** The value as the entity holds it, or what was expected. */
export type Reading = { readonly value: unknown } | { readonly expected: string };

export interface ValueKind {
  /** Reads a JSON value that is not `null`. */
  read(value: unknown): Reading;
  /** Reads a text of the URL, such as the id in a path. */
  readText(text: string): Reading;
  /** Makes a JSON value of what the entity holds, which is not `null`. */
  write(value: unknown): unknown;
  /** Whether "contains" makes sense of it. */
  readonly searchable: boolean;
}

const asItIs = (value: unknown): unknown => value;

/** Reads those values that a test accepts. */
function kind(expected: string, accepts: (value: never) => boolean, more: Partial<ValueKind> = {}): ValueKind {
  const read = (value: unknown): Reading => (accepts(value as never) ? { value } : { expected });
  return { read, readText: read, write: asItIs, searchable: false, ...more };
}

export const boolean = kind('true or false', (value) => typeof value === 'boolean');
export const float = kind('a number', (value) => Number.isFinite(value), { searchable: true });
const DECIMAL = /^-?\d{1,400}(\.\d{1,400})?$/;
export const decimal = kind(
  'a number, or a string that holds one',
  (value) =>
    Number.isFinite(value) || (typeof value === 'string' && DECIMAL.test(value) && Number.isFinite(Number(value))),
  { searchable: true },
);
/** JSON has no infinity: what is read of `1e400` would be stored as `null`. */
const isFiniteJson = (value: unknown): boolean =>
  typeof value === 'object' && value !== null
    ? Object.values(value).every(isFiniteJson)
    : typeof value !== 'number' || Number.isFinite(value);

export const json = kind('a JSON value of numbers in the range of a double', isFiniteJson);
/** MySQL's driver parses the value, and TypeORM parses a text once more: `"5"` would be read back as `5`. */
export const jsonReadTwice = kind(
  'a JSON value of numbers in the range of a double, but no text that is JSON itself',
  (value) => (typeof value === 'string' ? !isJson(value) : isFiniteJson(value)),
);

/** A kind whose values the entity holds in another form than JSON. */
function converted(read: (value: unknown) => Reading, more: Partial<ValueKind> = {}): ValueKind {
  return { read, readText: read, write: asItIs, searchable: false, ...more };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
export const uuid = converted(
  (value) => (typeof value === 'string' && UUID.test(value) ? { value: value.toLowerCase() } : { expected: 'a UUID' }),
  { searchable: true },
);

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** @param mostCharacters counted in code points, as databases do */
export function text(mostCharacters: number = Number.POSITIVE_INFINITY): ValueKind {
  const most = Number.isFinite(mostCharacters) ? ` of at most ${mostCharacters} characters` : '';
  return kind(
    `text${most}`,
    (value: unknown) => typeof value === 'string' && value.isWellFormed() && fits(value, mostCharacters),
    { searchable: true },
  );
}

/** As PostgreSQL has it, whose texts hold no NUL (its documentation, "Character Types"). */
export function textWithoutNul(mostCharacters?: number): ValueKind {
  const any = text(mostCharacters);
  const read = (value: unknown): Reading =>
    typeof value === 'string' && value.includes('\0')
      ? { expected: 'text without the character NUL' }
      : any.read(value);
  return { ...any, read, readText: read };
}

/** What PostgreSQL's driver reads as an object can be sent as it was read, or as a text that the database reads. */
function objectOrText<T>(
  expected: string,
  accepts: (value: unknown) => value is T,
  textOf: (value: T) => unknown = asItIs,
): ValueKind {
  const anyText = textWithoutNul();
  const read = (value: unknown): Reading =>
    accepts(value) ? { value: textOf(value) } : 'value' in anyText.read(value) ? { value } : { expected };
  return converted(read);
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type Numbers = Readonly<Record<string, number>>;
const areNumbersOf = (value: unknown, names: readonly string[]): value is Numbers =>
  isObject(value) && Object.entries(value).every(([name, each]) => names.includes(name) && Number.isFinite(each));

const numbersOf =
  (...names: readonly string[]) =>
  (value: unknown): value is Numbers =>
    areNumbersOf(value, names) && Object.keys(value).length === names.length;

export const point = objectOrText('an object of the numbers x and y, or a text such as "(1,2)"', numbersOf('x', 'y'));
export const circle = objectOrText(
  'an object of the numbers x, y and radius, or a text such as "<(1,2),3>"',
  numbersOf('x', 'y', 'radius'),
);

const UNITS = ['years', 'months', 'days', 'hours', 'minutes', 'seconds', 'milliseconds'];
export const interval = objectOrText(
  `an object of numbers of ${UNITS.join(', ')}, or a text such as "1 day 02:30"`,
  (value) => areNumbersOf(value, UNITS),
  (value) => {
    const parts = Object.entries(value).map(([unit, count]) => `${count} ${unit}`);
    return parts.length > 0 ? parts.join(' ') : '0';
  },
);

/** Read as PostgreSQL's settings write it, with a currency. It takes a text without a digit for nothing. */
export const money = kind(
  'a number, or a text such as "1.50"',
  (value: unknown) =>
    Number.isFinite(value) || (typeof value === 'string' && /\d/.test(value) && !value.includes('\0')),
);

/** PostgreSQL's `CUBE_MAX_DIM` is 100. */
export const cube = kind(
  'an array of at most 100 numbers',
  (value: unknown) => Array.isArray(value) && value.length <= 100 && value.every(Number.isFinite),
);

/** An `hstore`, read as an object, of which TypeORM loses a `__proto__`. */
export const textsByKey = kind('an object of texts and nulls', (value: unknown) => {
  const isText = (each: unknown): boolean => 'value' in textWithoutNul().read(each);
  const isEntry = ([key, each]: [string, unknown]): boolean =>
    isText(key) && key !== '__proto__' && (each === null || isText(each));
  return isObject(value) && Object.entries(value).every(isEntry);
});

/** A string has at least half as many code points as code units: long ones are not counted for nothing. */
const fits = (value: string, most: number): boolean =>
  value.length <= most || (value.length <= most * 2 && [...value].length <= most);

export function oneOf(values: readonly unknown[]): ValueKind {
  return kind(`one of ${values.join(', ')}`, (value: unknown) => values.includes(value), { searchable: true });
}

export function listOf(element: ValueKind): ValueKind {
  const read = (value: unknown): Reading => {
    if (!Array.isArray(value)) return { expected: 'an array' };
    const readings = value.map((each) => (each === null ? { expected: 'no null in the array' } : element.read(each)));
    const wrong = readings.find((reading) => 'expected' in reading);
    return wrong ?? { value: readings.map((reading) => ('value' in reading ? reading.value : undefined)) };
  };
  const write = (value: unknown): unknown =>
    Array.isArray(value) ? value.map((each) => (each == null ? each : element.write(each))) : value;
  return converted(read, { write });
}

/** Stored with commas between them, so that none may hold one; a single empty one would be read back as none at all. */
export const words = kind('an array of texts without commas, not of one empty text', (value: unknown) => {
  if (!Array.isArray(value) || (value.length === 1 && value[0] === '')) return false;
  return value.every((word) => typeof word === 'string' && !word.includes(','));
});

const INTEGER = /^(0|-?[1-9]\d{0,19})$/;
/** As many are below 2⁵³, whatever they are. */
const EXACT_DIGITS = 15;

/** Integers up to 53 bits are JSON numbers; beyond, strings of digits hold them exactly. */
export function integer(least: bigint, most: bigint): ValueKind {
  const safe = least >= BigInt(Number.MIN_SAFE_INTEGER) && most <= BigInt(Number.MAX_SAFE_INTEGER);
  const expected = `an integer from ${least} to ${most}`;
  const [leastNumber, mostNumber] = [Number(least), Number(most)];
  const readNumber = (value: number): Reading =>
    value >= leastNumber && value <= mostNumber ? { value } : { expected };
  const readText = (digits: string): Reading => {
    if (!INTEGER.test(digits)) return { expected };
    if (digits.length <= EXACT_DIGITS) return readNumber(Number(digits));
    const exact = BigInt(digits);
    return exact < least || exact > most ? { expected } : { value: safeNumber(digits) };
  };
  return {
    read: (value) => {
      if (Number.isSafeInteger(value)) return readNumber(value as number);
      return typeof value === 'string' && !safe && !Number.isSafeInteger(Number(value))
        ? readText(value)
        : { expected: safe ? expected : `${expected}, beyond 53 bits as a string` };
    },
    readText,
    write: (value) => (typeof value === 'string' || typeof value === 'bigint' ? safeNumber(String(value)) : value),
    searchable: true,
  };
}

const safeNumber = (digits: string): number | string =>
  /^-?\d+$/.test(digits) && Number.isSafeInteger(Number(digits)) ? Number(digits) : digits;

const bits = (count: bigint): [least: bigint, most: bigint] => [-(2n ** (count - 1n)), 2n ** (count - 1n) - 1n];
export const signed = (count: bigint): ValueKind => integer(...bits(count));
export const unsigned = (count: bigint): ValueKind => integer(0n, 2n ** count - 1n);
export const safeInteger = integer(BigInt(Number.MIN_SAFE_INTEGER), BigInt(Number.MAX_SAFE_INTEGER));

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIME = /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,6})?)?$/;
const DATE_TIME =
  /^(\d{4}-\d{2}-\d{2})(?:[T ]((?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:?\d{2})?)?$/i;

/** 30 February is none: `Date` would make 2 March of it. */
function isCalendarDate(value: string): boolean {
  const [, year, month, day] = DATE.exec(value) ?? [];
  if (year === undefined || year === '0000') return false;
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
}

export const date = kind('a date such as "2026-01-31"', (value) => typeof value === 'string' && isCalendarDate(value));
export const time = kind(
  'a time such as "09:30" or "09:30:15"',
  (value) => typeof value === 'string' && TIME.test(value),
);

/** ISO 8601, as ECMAScript reads it: a date alone is UTC, a date-time without a zone is local. */
export const dateTime = converted((value) => {
  const text = typeof value === 'string' ? value : '';
  const [, day = ''] = DATE_TIME.exec(text) ?? [];
  const moment = new Date(text);
  return isCalendarDate(day) && !Number.isNaN(moment.getTime())
    ? { value: moment }
    : { expected: 'a date-time such as "2026-01-31T09:30:00Z"' };
});

export const bytes = converted(
  (value) =>
    typeof value === 'string' && /^[A-Za-z0-9+/]*={0,2}$/.test(value) && value.length % 4 === 0
      ? { value: Buffer.from(value, 'base64') }
      : { expected: 'bytes in base64' },
  { write: (value) => (value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value) },
);
