import type { DataSource, SelectQueryBuilder } from 'typeorm';
import type { Field } from '../../entities/entity-schema.js';
import type { Resource } from '../resource/resource.js';
import type { RawRow } from './statement.js';

/** From a row of the driver to the record, compiled once for a resource: no entity is hydrated. */
export function compileRow<T extends object>({ schema, options }: Resource<T>, { driver }: DataSource) {
  const columns = schema.fields
    .filter((field) => field.readable)
    .map((field, index) => {
      const { column, type, path, reference, readsAsText } = field;
      // Values that no entity holds are not hydrated by the repository either.
      const isHydrated = !reference && !readsAsText;
      const read = (raw: unknown): unknown => {
        if (raw === null || raw === undefined) return null;
        const value: unknown = isHydrated ? driver.prepareHydratedValue(raw, column) : raw;
        return value == null ? null : type.write(value);
      };
      return { field, alias: `c${index}`, name: path[0] ?? '', read };
    });
  // A constructor gives all records one hidden class. The prototype is the entity's, for an application's serializer.
  const Record = function Record() {} as unknown as new () => Record<string, unknown>;
  Record.prototype = options.entity.prototype;
  return {
    /** Selects the readable fields, each by an alias of its own. */
    select(query: SelectQueryBuilder<T>): SelectQueryBuilder<T> {
      query.select([]);
      for (const { field, alias } of columns) selectRaw(query, field, alias);
      return query;
    },
    recordOf(row: RawRow): T {
      const record = new Record();
      for (const { alias, name, read } of columns) record[name] = read(row[alias]);
      return record as T;
    },
  };
}

/** Selects a column as the driver reads it. The parentheses keep TypeORM from hydrating a relation. */
export function selectRaw<T extends object>(
  query: SelectQueryBuilder<T>,
  { property, readsAsText }: Field,
  alias: string,
): void {
  const column = `${query.alias}.${property}`;
  query.addSelect(readsAsText ? `CAST(${column} AS TEXT)` : `(${column})`, alias);
}
