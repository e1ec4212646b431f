/** From an entity to the record that a client sees, compiled once for a resource. */
import type { ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import type { EntityDescription, Field } from '../../entities/entity-schema.js';
import { columnValue } from '../../entities/entity-instances.js';
import { setAtPath } from './entity-values.js';
import { selectRaw } from './row-projection.js';

/** An entity as TypeORM loaded it, with the columns that it does not map, where they were selected. */
export interface Row<T> {
  readonly entity: T;
  readonly raw: Readonly<Record<string, unknown>>;
}

export function compileProjection<T extends ObjectLiteral>(schema: EntityDescription, prototype: object) {
  const readable = schema.fields.filter((field) => field.readable);
  const aliases = new Map(
    readable
      .filter(({ reference, readsAsText }) => reference || readsAsText)
      .map((field, index) => [field, `extra${index}`]),
  );

  const valueOf = (field: Field, { entity, raw }: Row<T>): unknown => {
    const alias = aliases.get(field) ?? '';
    const value: unknown = alias in raw ? raw[alias] : columnValue(field.column, entity);
    return value == null ? null : field.type.write(value);
  };
  return {
    /** As clients see it. */
    valueOf,
    /** Adds what an entity does not hold: references, and integers whose digits the driver loses. */
    select(query: SelectQueryBuilder<T>): void {
      for (const [field, alias] of aliases) selectRaw(query, field, alias);
    },
    /** The exact key of a row, where the entity's is rounded. */
    keyOf: (raw: Row<T>['raw']): unknown => raw[aliases.get(schema.id) ?? ''],
    /** The prototype is the entity's, for an application's serializer. */
    recordOf(row: Row<T>, fields: readonly Field[]): T {
      const record = Object.create(prototype) as T;
      for (const field of fields) setAtPath(record, field.path, valueOf(field, row));
      return record;
    },
  };
}
