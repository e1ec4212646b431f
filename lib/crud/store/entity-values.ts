/** Sets what a client sent on an entity, as TypeORM reads it from there. */
import type { Type } from '@nestjs/common';
import { columnValue, findProperty, valueAt } from '../../entities/entity-instances.js';
import type { EntityKey } from '../../entities/entity-key.js';
import type { Field } from '../../entities/entity-schema.js';
import type { ColumnMetadata } from '../../entities/column-types.js';
import { DATABASE_DEFAULT, type Values } from '../../entities/record-input.js';

/**
 * Sets the values on an entity.
 *
 * Written out, because TypeORM's own setter takes a class field that is there and `undefined` for an object, and makes
 * embedded objects whose absent fields a statement would set to NULL.
 */
export function fill<T extends object>(entity: T, values: Values): T {
  for (const [{ column, property, reference }, value] of values) {
    const names = property.split('.');
    const last = names.pop() ?? '';
    let target = entity as Record<string, unknown>;
    for (const [depth, name] of names.entries())
      target = (target[name] ??= Object.create(embeddedPrototype(column, depth))) as Record<string, unknown>;
    const isReference = reference && value !== null && typeof value !== 'function';
    setOwn(target, last, isReference ? column.referencedColumn?.createValueMap(value) : value);
    // TypeORM takes the key of the object that a constructor gave to the relation for the value of its column.
    const relation = column.relationMetadata?.propertyName ?? last;
    if (relation !== last && Object.hasOwn(target, relation)) setOwn(target, relation, undefined);
  }
  return entity;
}

/** Assigning would call a setter of the prototype, such as that of a lazy relation, or fail where it has only a getter. */
export function setOwn(target: object, name: string, value: unknown): void {
  if (name in target)
    Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true });
  else (target as Record<string, unknown>)[name] = value;
}

/** Sets a value behind a path, in objects that it creates. */
export function setAtPath(record: object, path: readonly string[], value: unknown): void {
  let target = record as Record<string, unknown>;
  for (const name of path.slice(0, -1)) target = (target[name] ??= {}) as Record<string, unknown>;
  setOwn(target, path.at(-1) ?? '', value);
}

/** The values without those that the database sets. */
export const withoutDefaults = (values: Values): Values =>
  new Map([...values].filter(([, value]) => value !== DATABASE_DEFAULT));

/** The same values, as the entity has them now. */
export const valuesOfEntity = (entity: object, values: Values): Values =>
  new Map(
    [...values].map(([field, value]) => [
      field,
      value === DATABASE_DEFAULT ? value : columnValue(field.column, entity),
    ]),
  );

/** The value of a field in a record as a client sees it; `null` where the record does not have it. */
export const valueOf = (field: Field, record: object | undefined): unknown => valueAt(field.path, record) ?? null;

/**
 * An entity of a record that is in the table. TypeORM writes each enumerable property, also of the prototype. Listeners
 * see the key and what the prototype has, which are not enumerable: so no statement sets them.
 */
export function entityOf({ prototype }: Type, key: EntityKey<Field>, held: unknown): object {
  const entity = Object.create(prototype as object) as object;
  const hidden = { enumerable: false, configurable: true };
  for (const name in entity) Object.defineProperty(entity, name, { ...findProperty(prototype, name), ...hidden });
  for (const [index, { property }] of key.fields.entries())
    Object.defineProperty(entity, property, { value: key.parts(held)[index], writable: true, ...hidden });
  return entity;
}

function embeddedPrototype({ embeddedMetadata }: ColumnMetadata, depth: number): object {
  const type: unknown = embeddedMetadata?.embeddedMetadataTree[depth]?.type;
  return typeof type === 'function' ? (type.prototype as object) : {};
}
