/** Puts what a client sent into an entity, as TypeORM reads it from there. */
import type { Checked } from '../schema/record-input.js';
import type { ColumnMetadata } from '../schema/column-kind.js';

/**
 * Written out, because TypeORM's own setter takes a class field that is there and `undefined` for an object, and makes
 * embedded objects whose absent fields a statement would set to NULL.
 */
export function fill<T extends object>(entity: T, { values }: Checked): T {
  for (const [{ column, property, reference }, value] of values) {
    const names = property.split('.');
    const last = names.pop() ?? '';
    let target = entity as Record<string, unknown>;
    for (const [depth, name] of names.entries())
      target = (target[name] ??= Object.create(embeddedPrototype(column, depth))) as Record<string, unknown>;
    const held: unknown = reference && value !== null ? column.referencedColumn?.createValueMap(value) : value;
    // Defined, not assigned: the class of an entity with a lazy relation has a setter that would hide it.
    Object.defineProperty(target, last, { value: held, enumerable: true, writable: true, configurable: true });
  }
  return entity;
}

function embeddedPrototype({ embeddedMetadata }: ColumnMetadata, depth: number): object {
  const type: unknown = embeddedMetadata?.embeddedMetadataTree[depth]?.type;
  return typeof type === 'function' ? (type.prototype as object) : {};
}
