/** What a class of entities, such as the one of users, keeps from generated operations. Subclasses inherit it. */
import 'reflect-metadata';
import type { CallerRoles } from '../http/principal.js';
import type { JsonSchema } from './json-schema.js';
import type { Reading } from './value-types.js';

export interface EntityGuard {
  /** Columns that are no fields. */
  readonly hidden: readonly string[];
  /** Columns that only roles write which `fieldPermissions` names. */
  readonly reserved: readonly string[];
  /** Checks and normalises the values of columns, before the type of the column reads them. */
  readonly reads: Readonly<Record<string, (value: unknown, roles?: CallerRoles) => Reading>>;
  /** What these checks accept, where it is not what the column accepts. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  /** The columns of a caller who may still write, and their values. */
  readonly standing: (role: string | undefined) => Readonly<Record<string, unknown>>;
  /** What creates records instead of generated operations. */
  readonly creation: string;
}

const GUARD = Symbol('declarest.entityGuard');

export const guardEntity = (type: object, guard: EntityGuard): void => Reflect.defineMetadata(GUARD, guard, type);

/** @param target of metadata, which may be a name */
export const guardOf = (target: unknown): EntityGuard | undefined =>
  typeof target === 'function' ? (Reflect.getMetadata(GUARD, target) as EntityGuard | undefined) : undefined;
