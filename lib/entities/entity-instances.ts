/** Entities as objects: how a new one is made, and how the value of a column is read from one. */
import type { DataSource, EntityMetadata, EntitySubscriberInterface } from 'typeorm';
import type { JsonObject } from '../http/json-body.js';
import type { ColumnMetadata } from './column-types.js';

/**
 * A new entity, as its constructor fills it. TypeORM's own function adds properties that load lazy relations when they
 * are read. A constructor that fails without arguments is not called: TypeORM needs `entitySkipConstructor` there.
 */
export function newEntity({ target }: Pick<EntityMetadata, 'target'>): object {
  if (typeof target !== 'function') return {};
  try {
    return Reflect.construct(target, []) as object;
  } catch {
    return Object.create(target.prototype as object) as object;
  }
}

/** Whether code of the application may set values of a new entity. */
export const hasInsertListener = ({ beforeInsertListeners, target }: EntityMetadata, { subscribers }: DataSource) =>
  beforeInsertListeners.length > 0 || subscribers.some((each) => each.beforeInsert && listensTo(each, target));

export function listensTo(subscriber: EntitySubscriberInterface, target: EntityMetadata['target']): boolean {
  const listened = subscriber.listenTo?.();
  if (listened === undefined || listened === null || listened === Object || listened === target) return true;
  return typeof listened === 'function' && typeof target === 'function' && target.prototype instanceof listened;
}

/** The path of a column in an entity: a foreign key without a property of its own has that of its relation. */
export const propertyOf = ({ isVirtual, relationMetadata, propertyPath }: ColumnMetadata): string =>
  (isVirtual ? relationMetadata?.propertyPath : undefined) ?? propertyPath;

/** The path of a column in a record: a foreign key without a property of its own is `<relation>Id`. */
export const fieldPath = (column: ColumnMetadata): string[] =>
  (column.isVirtual && column.relationMetadata ? `${propertyOf(column)}Id` : propertyOf(column)).split('.');

/** The value that a new entity has for a column. Accessors are not called. */
export function initialValue(column: ColumnMetadata, entity: object): unknown {
  const read = (path: string): unknown => keyOf(column, path.split('.').reduce<unknown>(dataValue, entity));
  const { relationMetadata } = column;
  return read(propertyOf(column)) ?? (relationMetadata && read(relationMetadata.propertyPath));
}

const dataValue = (target: unknown, name: string): unknown => findProperty(target, name)?.value;

/** The value of a column in an entity. Its own property counts, not the object of its relation as in TypeORM. */
export const columnValue = (column: ColumnMetadata, entity: object): unknown =>
  keyOf(column, valueAt(propertyOf(column).split('.'), entity));

/** The value behind a path of names; `undefined` where there is none. */
export const valueAt = (path: readonly string[], record: unknown): unknown =>
  path.reduce<unknown>((value, name) => (value as JsonObject | null | undefined)?.[name], record);

/** Whether code of the entity's class decides the value of a column. */
export function hasAccessor({ propertyName, relationMetadata, embeddedMetadata, target }: ColumnMetadata): boolean {
  const type: unknown = embeddedMetadata?.type ?? target;
  // The accessor of a lazy relation is not used: its column is read.
  return !relationMetadata && typeof type === 'function' && propertyName in (type.prototype as object);
}

export function findProperty(target: unknown, name: string): PropertyDescriptor | undefined {
  if (typeof target !== 'object' || target === null) return undefined;
  return Object.getOwnPropertyDescriptor(target, name) ?? findProperty(Object.getPrototypeOf(target), name);
}

/** A foreign key may be held as the object that it refers to. */
function keyOf({ relationMetadata, referencedColumn, transformer }: ColumnMetadata, value: unknown): unknown {
  const isObject = typeof value === 'object' && value !== null;
  const isRelated = isObject && !(value instanceof Date) && !(value instanceof Uint8Array);
  return relationMetadata && referencedColumn && isRelated && !transformer
    ? referencedColumn.getEntityValue(value)
    : value;
}
