/** Puts what a client sent into an entity, as TypeORM reads it from there. */
import type { Checked } from '../schema/record-input.js';
import type { ColumnMetadata } from '../schema/column-kind.js';

/**
 * Written out, because TypeORM's own setter takes a class field that is there and `undefined` for an object, and makes
 * embedded objects whose absent fields a statement would set to NULL.
 */
export function fill<T extends object>(entity: T, { values }: Checked): T {
  for (const [{ column, property, path, reference }, value] of values) {
    let target = entity as Record<string, unknown>;
    let last = property;
    if (path.length > 1) {
      const names = property.split('.');
      last = names.pop() ?? '';
      for (const [depth, name] of names.entries())
        target = (target[name] ??= Object.create(embeddedPrototype(column, depth))) as Record<string, unknown>;
    }
    const held: unknown = reference && value !== null ? column.referencedColumn?.createValueMap(value) : value;
    if (last in target && !holdsValues(target, last))
      Object.defineProperty(target, last, { value: held, ...DATA_PROPERTY });
    else target[last] = held;
  }
  return entity;
}

/** By class and property. */
const known = new WeakMap<object, Map<string, boolean>>();

/**
 * Whether assigning calls no setter, which the class of an entity with a lazy relation has to hide the value. Asked of
 * the first entity of a class: its constructor makes all of them alike.
 */
function holdsValues(target: object, name: string): boolean {
  const prototype = Object.getPrototypeOf(target) as object;
  let ofClass = known.get(prototype);
  if (!ofClass) known.set(prototype, (ofClass = new Map()));
  let holds = ofClass.get(name);
  if (holds === undefined) {
    const { writable, configurable, enumerable } = Object.getOwnPropertyDescriptor(target, name) ?? {};
    ofClass.set(name, (holds = [writable, configurable, enumerable].every((each) => each === true)));
  }
  return holds;
}

const DATA_PROPERTY = { enumerable: true, writable: true, configurable: true };

function embeddedPrototype({ embeddedMetadata }: ColumnMetadata, depth: number): object {
  const type: unknown = embeddedMetadata?.embeddedMetadataTree[depth]?.type;
  return typeof type === 'function' ? (type.prototype as object) : {};
}
