/** Records as lines of CSV (RFC 4180). */
import { valueAt } from '../../entities/entity-instances.js';
import type { Field } from '../../entities/entity-schema.js';
import { JSON_TYPES } from '../import/file-records.js';
import type { RecordRequest } from '../query/record-request.js';

export const csvHeader = ({ fields, linked }: RecordRequest): string =>
  lineOf([...fields, ...linked].map(({ name }) => quoted(name)));

/** Ids of linked records are separated by spaces. */
export const csvLine = (record: object, { fields, linked }: RecordRequest): string =>
  lineOf([
    ...fields.map((field) => cellOf(valueAt(field.path, record), field)),
    ...linked.map(({ name }) => idsOf(valueAt([name], record) as readonly unknown[])),
  ]);

const idsOf = (ids: readonly unknown[]): string =>
  ids.some((id) => typeof id === 'string') ? quoted(defused(ids.join(' '))) : ids.join(' ');

const lineOf = (cells: readonly string[]): string => `${cells.join(',')}\r\n`;

/** NULL is an empty cell, an empty text is `""`. */
function cellOf(value: unknown, { type, column }: Field): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (value instanceof Date) return value.toJSON();
  if (typeof value !== 'string' || JSON_TYPES.includes(column.type)) return quoted(JSON.stringify(value));
  // Digits beyond 53 bits and decimals are numbers, although JSON has them as text.
  const isNumber = type.comparison === 'exact number';
  return isNumber ? value : quoted(defused(value));
}

/** A spreadsheet would run a text that begins like a formula. */
const defused = (text: string): string => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);

const quoted = (text: string): string => (/^$|[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
