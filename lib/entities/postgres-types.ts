/** Value types that only PostgreSQL has, as its driver and TypeORM read them. */
import { isObject } from '../options/option-table.js';
import { isText, valueType, readerType, textWithoutNul, unchanged, type ValueType } from './value-types.js';

const OPAQUE = { comparison: 'opaque' } as const;

/** PostgreSQL's driver reads these as objects. A client can send the object, or text in PostgreSQL's syntax. */
function objectOrText<T>(
  expected: string,
  accepts: (value: unknown) => value is T,
  textOf: (value: T) => unknown = unchanged,
  more: Partial<ValueType> = {},
): ValueType {
  const anyText = textWithoutNul();
  return readerType((value) => {
    if (accepts(value)) return { value: textOf(value) };
    return 'value' in anyText.read(value) ? { value } : { expected };
  }, more);
}

type Numbers = Readonly<Record<string, number>>;
const areNumbersOf = (value: unknown, names: readonly string[]): value is Numbers =>
  isObject(value) && Object.entries(value).every(([name, each]) => names.includes(name) && Number.isFinite(each));

const numbersOf =
  (...names: readonly string[]) =>
  (value: unknown): value is Numbers =>
    areNumbersOf(value, names) && Object.keys(value).length === names.length;

export const point = objectOrText('an object with the numbers x and y, or text such as "(1,2)"', numbersOf('x', 'y'));
export const circle = objectOrText(
  'an object with the numbers x, y and radius, or text such as "<(1,2),3>"',
  numbersOf('x', 'y', 'radius'),
);

const UNITS = ['years', 'months', 'days', 'hours', 'minutes', 'seconds', 'milliseconds'];
export const interval = objectOrText(
  `an object with numbers of ${UNITS.join(', ')}, or text such as "1 day 02:30"`,
  (value) => areNumbersOf(value, UNITS),
  (value) => {
    const parts = Object.entries(value).map(([unit, count]) => `${count} ${unit}`);
    return parts.length > 0 ? parts.join(' ') : '0';
  },
  OPAQUE,
);

/** PostgreSQL returns it with a currency, and reads text without a digit as 0. */
export const money = valueType(
  'a number, or text such as "1.50"',
  (value: unknown) =>
    Number.isFinite(value) || (typeof value === 'string' && /\d/.test(value) && !value.includes('\0')),
  OPAQUE,
);

export const bits = (length: number): ValueType =>
  valueType(`a text of ${length} digits 0 and 1`, (value) => isText(value, new RegExp(`^[01]{${length}}$`)), OPAQUE);

/** 100 is PostgreSQL's `CUBE_MAX_DIM`. */
export const cube = valueType(
  'an array of at most 100 numbers',
  (value: unknown) => Array.isArray(value) && value.length <= 100 && value.every(Number.isFinite),
);

/** An `hstore` that is read as an object. TypeORM drops a key `__proto__`. */
export const textsByKey = valueType(
  'an object with values that are text or null',
  (value: unknown) => {
    const isText = (each: unknown): boolean => 'value' in textWithoutNul().read(each);
    const isEntry = ([key, each]: [string, unknown]): boolean =>
      isText(key) && key !== '__proto__' && (each === null || isText(each));
    return isObject(value) && Object.entries(value).every(isEntry);
  },
  { ...OPAQUE, readText: textWithoutNul().read },
);
