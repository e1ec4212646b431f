/** Which rows a caller reaches, as alternatives of conditions, and whether they are more than before. */
import { singleComparisons, type Comparison, type Condition } from '../crud/inspect.js';

/** One of the alternatives holds, with each of its conditions. */
export type Rows = 'all' | 'none' | readonly (readonly string[])[];

const MOST_ALTERNATIVES = 64;
const EVERY: readonly (readonly string[])[] = [[]];

const alternativesOf = (rows: Rows): readonly (readonly string[])[] =>
  rows === 'all' ? EVERY : rows === 'none' ? [] : rows;

/** Without alternatives that others contain. */
function rowsOf(alternatives: readonly (readonly string[])[]): Rows {
  const sorted = alternatives.map((each) => [...new Set(each)].toSorted());
  const distinct = [...new Map(sorted.map((each) => [JSON.stringify(each), each])).values()];
  const kept = distinct.filter((each) => !distinct.some((other) => other !== each && isPartOf(other, each)));
  if (kept.length === 0) return 'none';
  return kept.some((each) => each.length === 0) ? 'all' : kept.toSorted((a, b) => (a.join() < b.join() ? -1 : 1));
}

const isPartOf = (part: readonly string[], whole: readonly string[]): boolean =>
  part.every((each) => whole.includes(each));

export const condition = (text: string, isNegated = false): Rows => [[isNegated ? `not (${text})` : text]];

export const anyOf = (...rows: readonly Rows[]): Rows => rowsOf(rows.flatMap(alternativesOf));

export const allOf = (...rows: readonly Rows[]): Rows =>
  rowsOf(rows.map(alternativesOf).reduce((left, right) => left.flatMap((a) => right.map((b) => [...a, ...b])), EVERY));

/** Whether every row of the inner ones is surely among the outer ones. */
export function isWithin(inner: Rows, outer: Rows): boolean {
  const alternatives = alternativesOf(outer);
  const follows = (conditions: readonly string[], other: readonly string[]): boolean =>
    other.every((each) => conditions.some((text) => implies(text, each)));
  return alternativesOf(inner).every(
    (each) => alternatives.some((other) => isPartOf(other, each)) || alternatives.some((other) => follows(each, other)),
  );
}

/** `own (customerId), or status = "open" and teamId = :teamId` */
export const describeRows = (rows: Rows): string =>
  typeof rows === 'string' ? rows : rows.map((each) => each.join(' and ')).join(', or ');

type NameOf = (value: unknown) => string | undefined;

/** @param nameOf the name of a value that stands for any value of the caller */
export function rowsMeeting(where: Condition, nameOf: NameOf, isNegated = false): Rows {
  if ('parts' in where) {
    const parts = where.parts.map((part) => rowsMeeting(part, nameOf, isNegated));
    // As NULL counts as false, `not (a or b)` is `not a and not b`.
    if ((where.kind === 'or') !== isNegated) return anyOf(...parts);
    const product = parts.reduce((count, rows) => count * alternativesOf(rows).length, 1);
    return product > MOST_ALTERNATIVES
      ? condition(parts.map((rows) => `(${describeRows(rows)})`).join(' and '))
      : allOf(...parts);
  }
  if (where.kind === 'unless') return rowsMeeting(where.part, nameOf, !isNegated);
  if (where.kind === 'compare') return rowsCompared(where, nameOf, isNegated);
  if (where.kind !== 'related') return condition(atomOf(where, nameOf), isNegated);
  const { relation, part } = where;
  const { propertyPath: path } = relation;
  const alternatives = alternativesOf(rowsMeeting(part, nameOf)).map((each): Rows => {
    const isOne = (relation.isManyToOne || relation.isOneToOne) && !isNegated && each.length > 0;
    return isOne
      ? allOf(...each.map((text) => condition(`${path} (${text})`)))
      : condition(`${path} (${each.join(' and ') || 'all'})`, isNegated);
  });
  return isNegated ? allOf(...alternatives) : anyOf(...alternatives);
}

/** Records that hold the id of the caller are the caller's own. */
const equal = (field: string, value: string): string => (value === ':id' ? `own (${field})` : `${field} = ${value}`);

const SIGNS: Readonly<Record<string, string>> = { ne: '!=', gt: '>', gte: '>=', lt: '<', lte: '<=' };
const WORDS: Readonly<Record<string, string>> = { isNull: 'is null', isNotNull: 'is not null' };
const OPPOSITES: Readonly<Record<string, string>> = { ne: 'eq', isNull: 'isNotNull', isNotNull: 'isNull' };

function rowsCompared(where: Comparison, nameOf: NameOf, isNegated: boolean): Rows {
  const parts = singleComparisons(where);
  if (parts) return rowsMeeting(parts, nameOf, isNegated);
  const { field, operator, values } = where;
  const { name } = operator;
  const opposite = isNegated ? OPPOSITES[name] : undefined;
  if (opposite) return rowsCompared({ ...where, operator: { ...operator, name: opposite } }, nameOf, false);
  const texts = values.map((value) => textOf(value, nameOf));
  if (name === 'eq') {
    const [text = ''] = texts;
    return condition(isNegated ? `${field.name} != ${text}` : equal(field.name, text));
  }
  const isOrdered = !field.column.transformer && /number|moment|calendar|boolean/.test(field.type.comparison ?? '');
  const words = [field.name, WORDS[name] ?? SIGNS[name] ?? name, texts.join(' and ')];
  // The database may order such values otherwise: `"10"` is below `"9"`.
  if (!isOrdered && texts.some((text) => /^[-\d]/.test(text))) words.push('as stored');
  return condition(words.filter((text) => text !== '').join(' '), isNegated);
}

function atomOf(where: Extract<Condition, { kind: 'raw' | 'indexed' }>, nameOf: NameOf): string {
  return where.kind === 'raw'
    ? `${where.write(where.field.name)} ${textOf(where.parameters, nameOf)}`
    : `${where.key.name} in ${where.table} (${textOf(where.text, nameOf)})`;
}

/** A value of the caller inside another one, such as a pattern, is named too. */
function textOf(value: unknown, nameOf: NameOf): string {
  const name = nameOf(value);
  if (name !== undefined) return name;
  if (value instanceof Date) return value.toISOString();
  const text = JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'bigint' ? String(each) : typeof each === 'string' ? (nameOf(each) ?? each) : each,
  );
  return (text ?? String(value)).replace(/\d+/g, (digits) => nameOf(digits) ?? digits);
}

/** Times by their distance from the present only: `:now - 7 d`. */
interface Ordered {
  readonly field: string;
  readonly sign: string;
  readonly value: number;
  readonly scale: string;
}

const TIME = /^:(now|today)(?: ([+-]) (\d+) (d|h|min|s))?$/;
const SECONDS: Readonly<Record<string, number>> = { d: 86_400, h: 3_600, min: 60, s: 1 };
const DATE = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

function valueOf(text: string): Pick<Ordered, 'value' | 'scale'> | undefined {
  if (/^(true|false)$/.test(text)) return { value: Number(text === 'true'), scale: 'boolean' };
  if (/^-?\d+(\.\d+)?$/.test(text)) return { value: Number(text), scale: 'number' };
  if (DATE.test(text)) return { value: Date.parse(text), scale: 'date' };
  const [, name = '', sign, count = '0', unit = ''] = TIME.exec(text) ?? [];
  return name === ''
    ? undefined
    : { value: (sign === '-' ? -1 : 1) * Number(count) * (SECONDS[unit] ?? 0), scale: name };
}

/** `undefined` for a text whose value has no known order, such as `name < "b"`: it depends on the collation. */
function readOrdered(text: string): Ordered | undefined {
  const [, field = '', sign = '', value = ''] = /^(\S+) (=|!=|<|<=|>|>=) (\S+(?: [+-] \d+ \w+)?)$/.exec(text) ?? [];
  const known = valueOf(value);
  return known && { field, sign, ...known };
}

const HOLDS: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '=': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

/** `ward (id = 1)`, and `not (dose < 5)`, which is true for NULL too. */
const NESTED = /^(\S+) \((.+)\)$/;

/** Whether every record that meets the first condition surely meets the second one. */
function implies(text: string, other: string): boolean {
  if (text === other) return true;
  const [[, name, inner = ''], [, otherName, otherInner = '']] = [NESTED.exec(text) ?? [], NESTED.exec(other) ?? []];
  if (name !== undefined && name === otherName)
    return name === 'not' ? implies(otherInner, inner) : otherInner === 'all' || implies(inner, otherInner);
  const [field = '', sign] = text.split(' ');
  if (other === `${field} is not null`) return sign !== undefined && '= < <= > >='.split(' ').includes(sign);
  const [a, b] = [readOrdered(text), readOrdered(other)];
  if (text === `${b?.field} is null`) return b?.sign === '!=';
  if (!a || !b || a.field !== b.field || a.scale !== b.scale) return false;
  // Every value is between two of these, or is one of them.
  const values = [-Infinity, a.value, (a.value + b.value) / 2, b.value, Infinity];
  const holds = (value: number, { sign, value: bound }: Ordered) => HOLDS[sign]?.(value, bound);
  return values.every((value) => !holds(value, a) || holds(value, b));
}
