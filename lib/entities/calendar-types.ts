/** How dates, times and moments are read and written. */
import { DAY, formedText, MOMENT, momentOf, refTo, sameSchemas, timeOfDay } from './json-schema.js';
import type { DataSource } from 'typeorm';
import { isMysql, isPostgres } from './database-family.js';
import { isText, readerType, valueType, type ValueType } from './value-types.js';

const DATE = new RegExp(`^${DAY}$`);
const END_OF_DAY = String.raw`24:00(?::00(?:\.0{1,6})?)?`;
const DURATION = String.raw`-?(?:\d{2}|[1-7]\d{2}|8[0-2]\d|83[0-7]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?|-?838:[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?`;
const DATE_TIME =
  /^(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?:[T ]((?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:?\d{2})?)?$/i;

/** `Date` alone would turn 30 February into 2 March. @param value that has the form of a date */
const isCalendarDate = (value: string): boolean =>
  !value.startsWith('0000') && new Date(value).getUTCDate() === Number(value.slice(8));

const DATE_FORM = { format: 'date', examples: ['2026-01-31'] };
export const date = valueType('a date such as "2026-01-31"', (value) => isText(value, DATE) && isCalendarDate(value), {
  comparison: 'calendar',
  schemas: { ...formedText(DAY, DATE_FORM), answer: { type: 'string', ...DATE_FORM } },
});
/** @param others patterns of what else the column holds */
const timeType = (expected: string, ...others: readonly string[]): ValueType => {
  const pattern = [timeOfDay(6), ...others].join('|');
  return valueType(expected, (value) => isText(value, new RegExp(`^(?:${pattern})$`)), {
    comparison: 'calendar',
    schemas: { ...formedText(pattern, { examples: ['09:30:15'] }), answer: { type: 'string' } },
  });
};
const time = timeType('a time such as "09:30" or "09:30:15"');
/** PostgreSQL has the end of the day. */
const timeOrEnd = timeType('a time such as "09:30:15", or "24:00:00"', END_OF_DAY);
/** MySQL and MariaDB have hours from -838 to 838. */
const duration = timeType('a time from "-838:59:59" to "838:59:59"', DURATION);
/** SQLite holds any text. */
const textTime: ValueType = { ...time, readText: duration.read };

/** `Date` reads other spellings than that of ECMAScript too, but not of the years before 100. */
const standard = (text: string): string =>
  text
    .toUpperCase()
    .replace(' ', 'T')
    .replace(/([+-]\d\d)(\d\d)$/, '$1:$2');

/** ISO 8601, as ECMAScript reads it: a date alone is UTC, a date-time without a zone is local. */
export const dateTime = readerType(
  (value) => {
    const [, day] = typeof value === 'string' ? (DATE_TIME.exec(value) ?? []) : [];
    const moment =
      value instanceof Date ? value : new Date(day !== undefined && isCalendarDate(day) ? standard(String(value)) : '');
    const year = moment.getUTCFullYear();
    // An offset may lead out of the years that databases store.
    return year >= 1 && year <= 9999 ? { value: moment } : { expected: 'a date-time such as "2026-01-31T09:30:00Z"' };
  },
  {
    comparison: 'moment',
    // PostgreSQL has `infinity`, MySQL `0000-00-00`: texts that no body may have, so that PUT does not store NULL.
    write: (value) =>
      Math.abs(value as number) === Infinity || (value instanceof Date && Number.isNaN(value.getTime()))
        ? String(value).toLowerCase()
        : value,
    schemas: sameSchemas(refTo(MOMENT.name), { answer: { type: 'string', format: 'date-time' } }),
  },
);

/** The type of a column that holds so many digits of a second. A longer fraction in a filter matches nothing. */
function withDigits(digits: number, type: ValueType, pattern: string): ValueType {
  if (digits >= 6) return type;
  const read: ValueType['read'] = (value) => {
    const fraction = (typeof value === 'string' && /\.(\d*[1-9])/.exec(value)?.[1]) || '';
    const expected = `a time with at most ${digits} digits behind the second`;
    return fraction.length > digits ? { expected } : type.read(value);
  };
  return { ...type, read, schemas: { ...type.schemas, body: { ...type.schemas.body, pattern: `^(?:${pattern})$` } } };
}
export function timeOf(digits: number, dataSource: DataSource): ValueType {
  if (isMysql(dataSource)) return withDigits(digits, duration, `${timeOfDay(digits)}|${DURATION}`);
  if (isPostgres(dataSource)) return withDigits(digits, timeOrEnd, `${timeOfDay(digits)}|${END_OF_DAY}`);
  return withDigits(digits, textTime, timeOfDay(digits));
}
/** A `Date` has milliseconds. */
export const dateTimeOf = (digits: number): ValueType => {
  const most = Math.min(digits, 3);
  return withDigits(most, dateTime, momentOf(most));
};
