/** Which rows a caller reaches, as alternatives of conditions, and whether they are more than before. */
import type { Condition, Conjunction } from '../crud/sql/condition.js';
import { OPERATORS } from '../crud/sql/operators.js';

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

export const condition = (text: string): Rows => [[text]];

export const anyOf = (...rows: readonly Rows[]): Rows => rowsOf(rows.flatMap(alternativesOf));

export const allOf = (...rows: readonly Rows[]): Rows =>
  rowsOf(rows.map(alternativesOf).reduce((left, right) => left.flatMap((a) => right.map((b) => [...a, ...b])), EVERY));

/** Whether every row of the inner ones is surely among the outer ones. */
export const isWithin = (inner: Rows, outer: Rows): boolean =>
  alternativesOf(inner).every((each) => alternativesOf(outer).some((other) => isPartOf(other, each)));

/** `own (customerId), or status = "open" and teamId = :teamId` */
export const describeRows = (rows: Rows): string =>
  typeof rows === 'string' ? rows : rows.map((each) => each.join(' and ')).join(', or ');

type NameOf = (value: unknown) => string | undefined;

/** @param nameOf the name of a value that stands for any value of the caller */
export function rowsMeeting(where: Condition, nameOf: NameOf): Rows {
  if ('parts' in where) {
    const parts = where.parts.map((part) => rowsMeeting(part, nameOf));
    const count = parts.map((rows) => alternativesOf(rows).length);
    const product = count.reduce((a, b) => a * b, 1);
    if (where.kind === 'or') return anyOf(...parts);
    return product > MOST_ALTERNATIVES
      ? condition(parts.map((rows) => `(${describeRows(rows)})`).join(' and '))
      : allOf(...parts);
  }
  if (where.kind === 'compare' && where.operator === OPERATORS.in)
    return anyOf(...where.values.map((value) => condition(equal(where.field.name, textOf(value, nameOf)))));
  return condition(atomOf(where, nameOf));
}

/** Records that hold the id of the caller are the caller's own. */
const equal = (field: string, value: string): string => (value === ':id' ? `own (${field})` : `${field} = ${value}`);

const SIGNS: Readonly<Record<string, string>> = { ne: '!=', gt: '>', gte: '>=', lt: '<', lte: '<=' };
const WORDS: Readonly<Record<string, string>> = { isNull: 'is null', isNotNull: 'is not null' };

function atomOf(where: Exclude<Condition, Conjunction>, nameOf: NameOf): string {
  if (where.kind === 'compare') {
    const { name } = where.operator;
    const values = where.values.map((value) => textOf(value, nameOf));
    if (name === 'eq') return equal(where.field.name, values.join());
    return [where.field.name, WORDS[name] ?? SIGNS[name] ?? name, values.join(' and ')]
      .filter((text) => text !== '')
      .join(' ');
  }
  if (where.kind === 'unless') return `not (${describeRows(rowsMeeting(where.part, nameOf))})`;
  if (where.kind === 'related')
    return `${where.relation.propertyPath} (${describeRows(rowsMeeting(where.part, nameOf))})`;
  if (where.kind === 'raw') return `${where.write(where.field.name)} ${textOf(where.parameters, nameOf)}`;
  return `${where.key.name} in ${where.table} (${textOf(where.text, nameOf)})`;
}

/** A value of the caller inside another one, such as a pattern, is named too. */
function textOf(value: unknown, nameOf: NameOf): string {
  const name = nameOf(value);
  if (name !== undefined) return name;
  if (value instanceof Date) return value.toISOString();
  const text = JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each));
  return (text ?? String(value)).replace(/\d+/g, (digits) => nameOf(digits) ?? digits);
}
