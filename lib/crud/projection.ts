/** From a row of the database to the record a client sees, compiled once for a resource. */
import type { ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import type { EntityDescription, Field } from '../entities/entity-schema.js';

/** An entity as TypeORM loaded it, with the columns that it does not map. */
export interface Row<T> {
  readonly entity: T;
  readonly raw: Readonly<Record<string, unknown>>;
}

export interface Projection<T extends ObjectLiteral> {
  /** Adds what an entity does not hold: references, and integers whose digits the driver loses. */
  select(query: SelectQueryBuilder<T>): void;
  /** The exact key of a row that could not be told by its entity. */
  keyOf(raw: Row<T>['raw']): unknown;
  /** Every readable field. The class stays the entity's, so that an application's serializer knows it. */
  recordOf(row: Row<T>): T;
}

export function compileProjection<T extends ObjectLiteral>(
  schema: EntityDescription,
  prototype: object,
): Projection<T> {
  const readable = schema.fields.filter((field) => field.readable);
  const aliases = new Map(
    readable
      .filter(({ reference, readsAsText }) => reference || readsAsText)
      .map((field, index) => [field, `extra${index}`]),
  );

  const valueOf = (field: Field, { entity, raw }: Row<T>): unknown => {
    const alias = aliases.get(field);
    const value: unknown = alias === undefined ? field.column.getEntityValue(entity) : raw[alias];
    return value == null ? null : field.type.write(value);
  };
  return {
    select(query) {
      for (const [{ property, readsAsText }, alias] of aliases)
        query.addSelect(
          readsAsText ? `CAST(${query.alias}.${property} AS TEXT)` : `(${query.alias}.${property})`,
          alias,
        );
    },
    keyOf: (raw) => raw[aliases.get(schema.id) ?? ''],
    recordOf(row) {
      const record = Object.create(prototype) as Record<string, unknown>;
      for (const field of readable) place(record, field.path, valueOf(field, row));
      return record as T;
    },
  };
}

function place(record: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let target = record;
  for (const name of path.slice(0, -1)) target = (target[name] ??= {}) as Record<string, unknown>;
  target[path.at(-1) ?? ''] = value;
}
