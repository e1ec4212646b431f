/** Types of the records that clients send and receive, derived from the entity. */

/** An entity on the other side of a relation: what has an `id`. */
interface Related {
  readonly id: unknown;
}

// Functions of any parameters: a type of another one would not match all of them.
// oxlint-disable-next-line typescript/no-explicit-any
type AnyFunction = (...args: any[]) => unknown;

/** The value of a property, lazy relations resolved. */
type ResolvedValue<V> = NonNullable<V extends Promise<infer R> ? R : V>;

type IsAny<V> = 0 extends 1 & V ? true : false;

/** `undefined` and `null` as they are, a related entity as its id. */
type WireValue<V> = V extends Promise<infer R> ? WireValue<R> : V extends Related ? V['id'] : V;

/** Left out: methods and to-many relations. A many-to-one relation is named `<relation>Id`. */
type NameOf<K, V> =
  IsAny<V> extends true
    ? K
    : ResolvedValue<V> extends AnyFunction | readonly Related[]
      ? never
      : ResolvedValue<V> extends Related
        ? K extends string
          ? `${K}Id`
          : never
        : K;

/**
 * A record of an entity as generated operations answer it: an `author` is its `authorId`, methods and to-many relations
 * are absent. Values keep the types of the entity; JSON has a `Date` as text.
 */
export type CrudRecord<T> = { [K in keyof T as NameOf<K, T[K]>]: WireValue<T[K]> };

/** The data of an envelope: records instead of entities, in an array or alone. */
export type CrudData<D> = D extends readonly (infer T)[] ? CrudRecord<T>[] : D extends object ? CrudRecord<D> : D;

type Text<K> = K & string;

/** `city` of an embedded object; nothing of other values. */
type WithinOf<V> =
  ResolvedValue<V> extends Date | Uint8Array | readonly unknown[] | AnyFunction
    ? never
    : ResolvedValue<V> extends object
      ? Text<keyof ResolvedValue<V>>
      : never;

type WithEmbedded<R> = { [K in Text<keyof R>]: K | `${K}.${WithinOf<R[K]>}` }[Text<keyof R>];

/** The names of an entity's fields: `name`, `authorId`, `address.city`. */
export type FieldName<T> = IsAny<T> extends true ? string : WithEmbedded<Required<CrudRecord<T>>>;
