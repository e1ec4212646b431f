/** Reads the records of a file line by line: NDJSON, or CSV as an export writes it. */
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { BadRequestException } from '@nestjs/common';
import type { Field } from '../../entities/entity-schema.js';
import { parseJson, type JsonObject } from '../../http/json-body.js';
import { isObject } from '../../options/option-table.js';
import type { Plan, Task } from '../plan/plan.js';
import type { LinkedIds } from '../query/record-request.js';
import { relatedPlan } from '../read/related-records.js';
import { setAtPath } from '../store/entity-values.js';
import type { Upload } from './upload.js';

/** Of text: a line of NDJSON or a record of CSV. */
const MAX_LENGTH = 2 ** 18;

export interface FileRecord {
  /** The line of the file on which it begins; the first one is 1. */
  readonly line: number;
  /** @throws 400 for a line that is no record */
  read(): JsonObject;
}

/** What cannot be read ends with a record that says so. @throws 400 naming wrong columns of CSV */
export async function recordsOf(task: Task, { type, path }: Upload): Promise<AsyncIterable<FileRecord>> {
  if (type !== 'text/csv') return jsonRecords(task, path);
  const rows = rowsOf(path);
  const { value: header } = await rows.next();
  if (header?.problem !== undefined) refuse(task, header.problem);
  return csvRecords(task, columnsOf(task, header?.cells ?? []), rows);
}

function refuse({ plan }: Task, message: string): never {
  throw new BadRequestException({ message: `${plan.schema.name} is not valid`, errors: [{ field: '', message }] });
}

const NO_CSV = 'must be CSV by RFC 4180: a cell with quotes is quoted, and its own quotes are doubled';
const TOO_LONG = `must have at most ${MAX_LENGTH} characters`;

/** Lines end with LF or CRLF only: node's `readline` also splits at U+2028, which a JSON text may contain. */
async function* jsonRecords(task: Task, path: string): AsyncGenerator<FileRecord> {
  const read = (text: string): JsonObject => {
    const value = parseJson(text);
    return isObject(value) ? value : refuse(task, 'must be a JSON object in one line');
  };
  const recordIn = (line: number, text: string): FileRecord[] => {
    const json = line === 1 ? text.replace(/^\uFEFF/, '') : text;
    return json.trim() === '' ? [] : [{ line, read: () => read(json) }];
  };
  let line = 0;
  let rest = '';
  for await (const chunk of createReadStream(path, 'utf8')) {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const text of lines) yield* recordIn((line += 1), text);
    if (rest.length > MAX_LENGTH) return yield { line: line + 1, read: () => refuse(task, TOO_LONG) };
  }
  yield* recordIn(line + 1, rest);
}

/** Text, or `null` for an empty cell without quotes. */
type Cell = string | null;

interface CsvRow {
  readonly record: readonly Cell[];
  /** `lines`: on which it ends. */
  readonly info: { readonly lines: number };
}

interface Row {
  readonly line: number;
  readonly cells: readonly Cell[];
  /** Why the rest of the file cannot be read. */
  readonly problem?: string;
}

async function* csvRecords(task: Task, columns: readonly Column[], rows: AsyncIterable<Row>) {
  for await (const { line, cells, problem } of rows)
    yield { line, read: () => (problem === undefined ? readRow(task, columns, cells) : refuse(task, problem)) };
}

async function* rowsOf(path: string): AsyncGenerator<Row, undefined> {
  const { parse, CsvError } = await import('csv-parse');
  const parser = parse({
    bom: true,
    info: true,
    relax_column_count: true,
    max_record_size: MAX_LENGTH,
    cast: (text, { quoting }) => (text === '' && !quoting ? null : text),
  });
  // The callback takes the error, which the parser has too.
  pipeline(createReadStream(path), parser, () => undefined);
  let line = 1;
  try {
    for await (const { record: cells, info } of parser as AsyncIterable<CsvRow>) {
      yield { line, cells };
      line = info.lines + 1;
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    yield { line, cells: [], problem: error.code === 'CSV_MAX_RECORD_SIZE' ? TOO_LONG : NO_CSV };
  }
}

interface Column {
  readonly path: readonly string[];
  /** @returns `undefined` to leave it out */
  read(cell: Cell): unknown;
}

/** @throws 400 naming each column that is no field of a new record, or is there twice */
function columnsOf({ plan, view }: Task, header: readonly Cell[]): readonly Column[] {
  const { schema, list } = plan;
  const names = header.map((name) => name ?? '');
  const columns = names.map((name): Column => {
    const field = schema.fields.find((each) => each.name === name);
    const linked = list.linkable.find((each) => each.name === name);
    return { path: field?.path ?? [name], read: field ? valueIn(field) : linked ? idsIn(linked, plan) : unchanged };
  });
  const record = {};
  for (const { path } of columns) setAtPath(record, path, '');
  const seen = new Set<string>();
  const repeated = names.filter((name) => seen.size === seen.add(name).size);
  const errors = [
    ...plan.readBody(record, 'create', view.permissions).errors,
    ...repeated.map((field) => ({ field, message: 'is a column twice' })),
  ];
  if (errors.length > 0) throw new BadRequestException({ message: `${schema.name} is not valid`, errors });
  return columns;
}

function readRow(task: Task, columns: readonly Column[], row: readonly Cell[]): JsonObject {
  if (row.length !== columns.length)
    refuse(task, `must have ${columns.length} cells as the first line, got ${row.length}`);
  const record = {};
  for (const [index, { path, read }] of columns.entries()) {
    const value = read(row[index] ?? null);
    if (value !== undefined) setAtPath(record, path, value);
  }
  return record;
}

const unchanged = (cell: Cell): unknown => cell;
export const JSON_TYPES: readonly unknown[] = ['json', 'jsonb', 'simple-json'];

/** An export puts an apostrophe before a text that a spreadsheet would run. */
const plainText = (cell: string): string => cell.replace(/^'(?=[=+\-@\t\r])/, '');

/** An empty cell is NULL, or the default of a column that is never NULL. */
const valueIn =
  ({ type, column, nullable }: Field) =>
  (cell: Cell): unknown => {
    if (cell === null) return nullable ? null : undefined;
    const isJson = JSON_TYPES.includes(column.type);
    const text = isJson ? undefined : plainText(cell);
    if (text !== undefined && 'value' in type.read(text)) return text;
    const value = parseJson(cell);
    return value !== undefined && (isJson || 'value' in type.read(value)) ? value : (text ?? cell);
  };

/** The ids of linked records, separated by spaces. */
function idsIn({ path }: LinkedIds, plan: Plan): Column['read'] {
  const { key } = relatedPlan(plan, path).schema;
  const idOf = (text: string): unknown => {
    const reading = key.readText(text);
    return 'value' in reading ? key.write(reading.value) : text;
  };
  return (cell) => (cell === null ? [] : plainText(cell).split(' ').map(idOf));
}
