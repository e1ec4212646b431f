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

type SortKey<T> = OptionField<T> | `-${OptionField<T>}`;

/** In the syntax of `sort`. TypeScript checks the first key, and startup all of them. */
export type SortText<T> = SortKey<T> | `${SortKey<T>},${string}`;

/** The entity on the other side of a relation. */
export type RelatedOf<V> = ResolvedValue<V> extends readonly (infer R)[] ? R : ResolvedValue<V>;

/** Other objects may be entities: one whose key is not `id` cannot be told from an embedded object. */
export type NoEntity = string | number | bigint | boolean | Date | Uint8Array | AnyFunction | readonly unknown[];

type RelationOf<T> = {
  [K in Text<keyof T>]: IsAny<T[K]> extends true ? never : RelatedOf<T[K]> extends NoEntity ? never : K;
}[Text<keyof T>];

/** The names of an entity's fields in options, also of references to entities whose key is not `id`. */
export type OptionField<T> =
  | FieldName<T>
  | { [K in RelationOf<T>]: ResolvedValue<T[K]> extends readonly unknown[] ? never : `${K}Id` }[RelationOf<T>];

type PathOf<T, Not = never> = {
  [K in RelationOf<T>]: ResolvedValue<T[K]> extends Not ? never : `${K}.${OptionField<RelatedOf<T[K]>> | DeepName}`;
}[RelationOf<T>];

/** The names of an entity's fields, and of those of related entities: `status`, `author.name`. */
export type FilterableName<T> = OptionField<T> | PathOf<T>;
/** The same, but for relations to many records. */
export type SortableName<T> = OptionField<T> | PathOf<T, readonly unknown[]>;

/** A path through several relations, which is checked at startup. */
type DeepName = `${string}.${string}`;

/** What `aggregate` answers for one group of records, or for all of them. The names are those of fields. */
export interface AggregateRow {
  readonly groupBy?: Readonly<Record<string, unknown>>;
  readonly count: number;
  readonly sum?: Readonly<Record<string, number | string | null>>;
  readonly avg?: Readonly<Record<string, number | string | null>>;
  readonly min?: Readonly<Record<string, unknown>>;
  readonly max?: Readonly<Record<string, unknown>>;
}
/** The names of an entity's relations, and of those of related entities up to three deep: `author`, `comments.author`. */
export type RelationPath<T, Depth extends readonly 1[] = []> =
  IsAny<T> extends true
    ? string
    : {
        [K in RelationOf<T>]:
          K | (Depth['length'] extends 2 ? never : `${K}.${RelationPath<RelatedOf<T[K]>, [...Depth, 1]>}`);
      }[RelationOf<T>];

/** The names of an entity's to-many relations. */
export type ManyRelationName<T> =
  IsAny<T> extends true
    ? string
    : { [K in RelationOf<T>]: ResolvedValue<T[K]> extends readonly unknown[] ? K : never }[RelationOf<T>];
