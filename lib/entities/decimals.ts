/** Decimals: texts with as many digits behind the point as the column has. */
import { formedText } from './json-schema.js';
import { isText, type Digits, type Reading, type ValueType } from './value-types.js';

const PARTS = /^(-?)(\d{1,400})(?:\.(\d{1,400}))?(?:e([+-]?\d{1,3}))?$/i;

/** Without an exponent, and with at least `scale` digits behind the point. Other values become texts, such as `NaN`. */
export function decimalText(value: unknown, scale = 0): string {
  const [, sign = '', whole = '', fraction = '', exponent = 0] = PARTS.exec(String(value)) ?? [];
  if (whole === '') return String(value);
  const point = whole.length + Number(exponent);
  const digits = `${'0'.repeat(Math.max(0, 1 - point))}${whole}${fraction}`.padEnd(point, '0');
  const start = Math.max(1, point);
  const behind = digits.slice(start).padEnd(scale, '0');
  return `${sign}${digits.slice(0, start)}${behind && `.${behind}`}`;
}

/** A double, and so a number of JSON or SQLite, holds every decimal of so many significant digits. */
const DOUBLE_DIGITS = 15;
const DECIMAL = /^-?\d{1,400}(\.\d{1,400})?$/;

/** MySQL compares with at most 65 digits, of which 30 are behind the point: so many where the column leaves room. */
export const comparedScale = ({ precision = 0, scale = 0 }: Digits): number => Math.min(30, 65 - (precision - scale));

/** The digits of a value before and behind the point, without zeros that do not count. */
function digitsOf(value: unknown): readonly [whole: string, fraction: string] {
  const [whole = '', fraction = ''] = decimalText(value).replace('-', '').split('.');
  return [whole.replace(/^0+/, ''), fraction.replace(/0+$/, '')];
}

const significant = (value: unknown): number =>
  digitsOf(value)
    .join('')
    .replace(/^0+|0+$/g, '').length;

function fits(value: unknown, { precision, scale = 0 }: Digits): boolean {
  const [whole, fraction] = digitsOf(value);
  return precision === undefined || (whole.length <= precision - scale && fraction.length <= scale);
}

const limitOf = ({ precision, scale = 0 }: Digits): string =>
  precision === undefined ? '' : ` with at most ${precision - scale} digits before the point and ${scale} behind it`;

/** Zeros that do not count may be sent. */
function patternOf({ precision, scale = 0 }: Digits): string {
  if (precision === undefined) return String.raw`-?\d{1,308}(?:\.\d{1,400})?`;
  const whole = precision > scale ? String.raw`0{0,200}\d{1,${precision - scale}}` : '0{1,200}';
  return String.raw`-?${whole}(?:\.${scale > 0 ? String.raw`\d{1,${scale}}0{0,200}` : '0{1,200}'})?`;
}

/**
 * @param most significant digits that the database stores
 * @param special texts that the database stores too, such as `NaN`
 * @param compared the digits that a filter may have
 */
export function decimal(digits: Digits, most: number, special: readonly unknown[], compared: Digits): ValueType {
  const { precision, scale } = digits;
  const isDecimal = (value: unknown): boolean => isText(value, DECIMAL) && Number.isFinite(Number(value));
  const isExact = (value: unknown): boolean =>
    typeof value === 'number'
      ? Number.isFinite(value) && significant(value) <= DOUBLE_DIGITS
      : isDecimal(value) && significant(value) <= most;
  const limit = most === DOUBLE_DIGITS ? 'of at most 15 digits' : 'as a string beyond 15 digits';
  const readAs = (isRead: boolean, value: unknown, expected: string): Reading =>
    isRead || special.includes(value) ? { value } : { expected };
  const { body, text } = formedText(patternOf(digits), {
    examples: [scale === undefined ? '1.50' : decimalText(precision === scale ? 0 : 1, scale)],
  });
  return {
    read: (value) => readAs(isExact(value) && fits(value, digits), value, `a number${limitOf(digits)}, ${limit}`),
    readText: (value) => readAs(isDecimal(value) && fits(value, compared), value, `a number${limitOf(compared)}`),
    write: (value) => decimalText(value, scale),
    searchable: true,
    comparison: 'exact number',
    digits,
    schemas: {
      body: { anyOf: [{ type: 'number' }, body] },
      answer: { type: 'string' },
      text: { ...text, pattern: `^(?:${patternOf({})})$` },
    },
  };
}
