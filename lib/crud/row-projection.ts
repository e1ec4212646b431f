/** From rows of the driver to what a client sees, compiled once for a resource: no entity stands between. */
import type { DataSource, SelectQueryBuilder } from 'typeorm';
import { RECORD } from './record-selection.js';
import type { Resource } from './resource.js';
import { compileJson } from './row-json.js';
import type { RawRow } from './statement.js';
import { alreadyRead, type Unread, type UnreadRecord } from './unread.js';

export interface RowProjection<T extends object> {
  /** Selects the readable fields, each by an alias of its own. */
  select(query: SelectQueryBuilder<T>): SelectQueryBuilder<T>;
  /** The same for `RETURNING`, on a database where no column is read as text. */
  readonly returning: string;
  one(row: RawRow): UnreadRecord<T>;
  all(rows: readonly RawRow[]): Unread<T[]>;
}

/**
 * As the name of a property, which V8 finds in a row at once: any other text it looks up among the names first, for every
 * column of every row (40 instead of 37 microseconds for a record by id, docs/performance.md).
 */
const aliasOf = (index: number): string => Object.keys({ [`c${index}`]: index }).join();

export function compileRow<T extends object>(
  { schema, options }: Resource<T>,
  dataSource: DataSource,
): RowProjection<T> {
  const { driver } = dataSource;
  const columns = schema.fields
    .filter((field) => field.readable)
    .map((field, index) => ({ ...field, alias: aliasOf(index), name: field.path[0] ?? '' }));
  const readers = columns.map(({ alias, name, column, type, reference, readsAsText }) => {
    // What no entity holds is not hydrated on the other path either.
    const hydrates = !reference && !readsAsText;
    return {
      alias,
      name,
      column,
      read: (raw: unknown): unknown => {
        if (raw === null || raw === undefined) return null;
        const value: unknown = hydrates ? driver.prepareHydratedValue(raw, column) : raw;
        return value == null ? null : type.write(value);
      },
    };
  });
  // Records of one constructor are objects of one shape. The class stays the entity's, for an application's serializer.
  const Record = function Record() {} as unknown as new () => Record<string, unknown>;
  Record.prototype = options.entity.prototype;
  const recordOf = (row: RawRow): T => {
    const record = new Record();
    for (const { alias, name, read } of readers) record[name] = read(row[alias]);
    return record as T;
  };
  // With the first answer: 500 resources would wait for what most of them need much later.
  let compiled: { readonly jsonOf: ((row: RawRow) => string) | undefined } | undefined;
  const jsonWriter = (): ((row: RawRow) => string) | undefined =>
    (compiled ??= { jsonOf: compileJson(readers, Record.prototype as object, dataSource) }).jsonOf;
  const id = readers[columns.findIndex(({ column }) => column === schema.id.column)];

  return {
    select(query) {
      query.select([]);
      for (const { alias, property, reference, readsAsText } of columns)
        if (readsAsText) query.addSelect(`CAST(${RECORD}.${property} AS TEXT)`, alias);
        else if (reference) query.addSelect(`(${RECORD}.${property})`, alias);
        else query.addSelect(`${RECORD}.${property}`, alias);
      return query;
    },
    returning: columns.map(({ alias, column }) => `${driver.escape(column.databaseName)} AS "${alias}"`).join(', '),
    one(row) {
      const jsonOf = jsonWriter();
      const unread = jsonOf ? { read: () => recordOf(row), json: () => jsonOf(row) } : alreadyRead(recordOf(row));
      return { read: unread.read, json: unread.json, id: () => id?.read(row[id.alias]) as string | number };
    },
    all(rows) {
      const jsonOf = jsonWriter();
      return jsonOf
        ? { read: () => rows.map(recordOf), json: () => `[${rows.map(jsonOf).join(',')}]` }
        : alreadyRead(rows.map(recordOf));
    },
  };
}
