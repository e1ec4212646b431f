import { BadRequestException, Logger } from '@nestjs/common';
import { type DataSource, type SelectQueryBuilder, TypeORMError } from 'typeorm';
import { ACCEPTED, type ColumnMetadata } from '../../entities/column-types.js';
import { columnValue } from '../../entities/entity-instances.js';
import type { EntityDescription, Field } from '../../entities/entity-schema.js';
import { unchanged } from '../../entities/value-types.js';
import type { RawRow } from '../sql/statement.js';
import { setAtPath } from './entity-values.js';
import type { Table } from './table.js';

const logger = new Logger('CrudModule');

/** From a row of the driver to the record, compiled once for a set of fields: no entity is hydrated. */
export function compileRow({ schema, dataSource }: Table, fields: readonly Field[]) {
  // Malformed values are logged with the key.
  const selected = [...new Set([...fields, ...schema.key.fields])].map((field, index) => {
    return { field, alias: `c${index}`, set: compileSet(field), read: compileRead(field, dataSource) };
  });
  const columns = selected.slice(0, fields.length);
  const keys = selected.filter(({ field }) => schema.key.fields.includes(field));
  // A constructor gives all records one hidden class. The prototype is the entity's, for an application's serializer.
  const Record = function Record() {} as unknown as new () => Record<string, unknown>;
  Record.prototype = schema.prototype;
  return {
    select(query: SelectQueryBuilder<object>): SelectQueryBuilder<object> {
      query.select([]);
      for (const { field, alias } of selected) selectRaw(query, field, alias);
      return query;
    },
    returned: selected.map(({ field, alias }) => {
      const column = asRead(field, dataSource.driver.escape(field.column.databaseName));
      return `${column} AS ${dataSource.driver.escape(alias)}`;
    }),
    recordOf(row: RawRow): object {
      const record = new Record();
      for (const { alias, set, read, field } of columns)
        try {
          set(record, read(row[alias]));
        } catch (error) {
          const key = keys.map((each) => row[each.alias]);
          set(record, nullIfMalformed(error, field.column, key, record));
        }
      return record as object;
    },
  };
}

/** Whether TypeORM could not parse JSON, or a transformer threw. */
export const isMalformed = (error: unknown, columns: readonly ColumnMetadata[]): boolean =>
  error instanceof SyntaxError ||
  (!(error instanceof TypeORMError) && columns.some(({ transformer }) => transformer !== undefined));

/** TypeORM reads what the database sets in a new row, and so values that a transformer may refuse. */
export function refusalOf(error: unknown, entity: object, schema: EntityDescription, { driver }: DataSource): unknown {
  const isRefused = ({ column }: Field): boolean => {
    try {
      const stored: unknown = driver.preparePersistentValue(columnValue(column, entity), column);
      if (stored !== undefined) driver.prepareHydratedValue(stored, column);
      return false;
    } catch {
      return true;
    }
  };
  const { name, fields, metadata } = schema;
  const refused = isMalformed(error, metadata.columns) ? fields.filter(isRefused) : [];
  if (refused.length === 0) return error;
  const errors = refused.map((field) => ({ field: field.name, message: `must be ${ACCEPTED}` }));
  return new BadRequestException({ message: `${name} is not valid`, errors });
}

const malformed = new WeakMap<object, readonly ColumnMetadata[]>();

/** The columns of a record whose stored values could not be read. */
export const malformedColumns = (record: object): readonly ColumnMetadata[] => malformed.get(record) ?? [];

export function markMalformed(record: object, columns: readonly ColumnMetadata[]): void {
  if (columns.length > 0) malformed.set(record, columns);
}

/** Replaces a value that cannot be read, so that one row does not fail a whole list. */
export function nullIfMalformed(error: unknown, column: ColumnMetadata, key: unknown, record: object): null {
  if (!isMalformed(error, [column])) throw error;
  markMalformed(record, [...malformedColumns(record), column]);
  const { entityMetadata, databaseName, transformer } = column;
  const problem = transformer ? 'A value that its transformer refuses' : 'Malformed JSON';
  logger.warn(`${problem} is read as null: ${entityMetadata.tablePath}.${databaseName} of the record ${String(key)}`);
  return null;
}

function compileSet({ path: [name = '', ...others], path }: Field) {
  if (others.length > 0) return (record: object, value: unknown) => setAtPath(record, path, value);
  return (record: Record<string, unknown>, value: unknown) => void (record[name] = value);
}

export function compileRead({ column, type, reference, textRead }: Field, { driver }: DataSource) {
  // Values that no entity holds are not hydrated by the repository either.
  const hydrate = reference ? unchanged : (raw: unknown): unknown => driver.prepareHydratedValue(raw, column);
  const read = textRead?.read ?? hydrate;
  return (raw: unknown): unknown => {
    // A transformer may have a value for NULL.
    if (raw == null && (reference || !column.transformer)) return null;
    const value = read(raw);
    return value == null ? null : type.write(value);
  };
}

/** Selects a column as the driver reads it. The parentheses keep TypeORM from hydrating a relation. */
export function selectRaw(query: SelectQueryBuilder<object>, field: Field, alias: string): void {
  query.addSelect(asRead(field, `${query.alias}.${field.property}`), alias);
}

export const asRead = ({ textRead }: Field, column: string): string => textRead?.select(column) ?? `(${column})`;
