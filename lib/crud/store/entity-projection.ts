/** From an entity to the record that a client sees, compiled once for a resource. */
import { isDeepStrictEqual } from 'node:util';
import type { DataSource, ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import type { EntityDescription, Field } from '../../entities/entity-schema.js';
import { columnValue } from '../../entities/entity-instances.js';
import { unchanged } from '../../entities/value-types.js';
import type { RawRow } from '../sql/statement.js';
import { setAtPath } from './entity-values.js';
import { selectRaw } from './row-projection.js';

/** The value as the driver reads it, which listeners may change in the entity. */
const plain = (alias: string): string => `${alias}plain`;

export function compileProjection<T extends ObjectLiteral>(
  schema: EntityDescription,
  prototype: object,
  { driver }: DataSource,
) {
  const aliases = new Map(
    schema.fields
      .filter((field) => field.reference || field.textRead || schema.key.fields.includes(field))
      .map((field, index) => [field, `extra${index}`]),
  );

  const valueOf = (field: Field, entity: T, raw: RawRow): unknown => {
    const { column, reference, textRead } = field;
    const alias = aliases.get(field) ?? '';
    const held: unknown = reference ? undefined : columnValue(column, entity);
    const loaded = (): unknown => driver.prepareHydratedValue(raw[plain(alias)], column);
    const isRead = alias in raw && (reference || (textRead && isDeepStrictEqual(held, loaded())));
    const value = isRead ? (textRead?.read ?? unchanged)(raw[alias]) : held;
    return value == null ? null : field.type.write(value);
  };
  return {
    /** Adds what an entity does not hold: references, and values that the driver would change. */
    select(query: SelectQueryBuilder<T>): void {
      for (const [field, alias] of aliases) {
        selectRaw(query, field, alias);
        if (!field.reference) query.addSelect(`(${query.alias}.${field.property})`, plain(alias));
      }
    },
    /** The exact key of a row; the entity's may be rounded. */
    keyOf: (raw: RawRow): unknown => schema.key.hold(schema.key.fields.map((field) => raw[aliases.get(field) ?? ''])),
    /**
     * The prototype is the entity's, for an application's serializer.
     * @param raw the row with the columns that the entity does not hold, where they were selected
     */
    recordOf(entity: T, raw: RawRow, fields: readonly Field[]): T {
      const record = Object.create(prototype) as T;
      for (const field of fields) setAtPath(record, field.path, valueOf(field, entity, raw));
      return record;
    },
  };
}
