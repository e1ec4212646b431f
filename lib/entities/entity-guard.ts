/** Restrictions that an entity class, such as the user class, puts on generated operations. Subclasses inherit them. */
import 'reflect-metadata';
import type { Type } from '@nestjs/common';
import type { DataSource, EntityMetadata, Repository } from 'typeorm';
import { InvalidOptionError } from '../options/invalid-option.js';
import type { CallerRoles } from '../http/caller.js';
import type { ColumnMetadata } from './column-types.js';
import type { JsonSchema } from './json-schema.js';
import type { Reading } from './value-types.js';

export interface Restrictions {
  /** Columns that are no fields of any resource of the table. */
  readonly hidden: readonly string[];
  /** Columns that only roles write which `fieldPermissions` names. */
  readonly reserved: readonly string[];
  /** Checks and normalises the values of columns, before the type of the column reads them. */
  readonly reads: Readonly<Record<string, (value: unknown, roles?: CallerRoles) => Reading>>;
  /** Schemas of the values that these checks accept, if they differ from those of the columns. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  /** The values that columns of the caller's own record must still have. */
  readonly standing: (role: string | undefined) => Readonly<Record<string, unknown>>;
  /** The code that creates records instead of generated operations. */
  readonly creation: string;
}

/** The `repositoryClass` of users where nothing tells which columns hold hashes, and the tables that it seems to read. */
export class UnhiddenHashes {
  repositoryClass: string | undefined;
  tables: ReadonlySet<string> = new Set();
}

const GUARD = Symbol('declarest.entityGuard');

export const guardEntity = (type: object, guard: Restrictions): void => Reflect.defineMetadata(GUARD, guard, type);

/** @param target of metadata, which may be a name */
export const guardOf = (target: unknown): Restrictions | undefined =>
  typeof target === 'function' ? (Reflect.getMetadata(GUARD, target) as Restrictions | undefined) : undefined;

/**
 * Nest finds repositories by the name of their class, so that it may inject the one of another class of the same name.
 * @throws InvalidOptionError
 */
export function assertServes({ metadata }: Partial<Pick<Repository<object>, 'metadata'>>, entity: Type): void {
  if (metadata === undefined || metadata.target === entity) return;
  const [expected, got] = [
    `one of the class ${entity.name}`,
    `one of another class, for the table ${metadata.tablePath}`,
  ];
  const advice = 'Rename one of the classes if both have this name: Nest finds repositories by the names of classes';
  throw new InvalidOptionError(`The repository of ${entity.name}`, expected, got, advice);
}

const HIDDEN = new WeakSet<ColumnMetadata>();

const HOLDERS = new WeakSet<EntityMetadata['target'] & object>();

/** The columns are no fields of any resource of their table, which holds users. */
export function hideColumns(columns: readonly ColumnMetadata[]): void {
  for (const column of columns) {
    HIDDEN.add(column);
    if (typeof column.entityMetadata.target === 'function') HOLDERS.add(column.entityMetadata.target);
  }
}

export const holdsUsers = (type: EntityMetadata['target'] & object): boolean =>
  guardOf(type) !== undefined || HOLDERS.has(type);

/** The names in the database: several classes may have one table. */
export function hiddenColumns({ tablePath }: EntityMetadata, { entityMetadatas }: DataSource): ReadonlySet<string> {
  const ofTable = entityMetadatas.filter((each) => each.tablePath === tablePath);
  const isHidden = (column: ColumnMetadata): boolean =>
    HIDDEN.has(column) || guardOf(column.entityMetadata.target)?.hidden.includes(column.propertyPath) === true;
  return new Set(ofTable.flatMap(({ columns }) => columns.filter(isHidden)).map(({ databaseName }) => databaseName));
}

const SECRETS = ['password', 'hash', 'salt', 'token', 'secret', 'otp'];

/** Whether one of the words of a name such as `passwordHash` or `reset_tokens` is that of a secret. */
export function namesSecret(name: string, secrets: readonly string[] = SECRETS): boolean {
  const words = name.replaceAll(/([a-z\d])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$& ').toLowerCase();
  return words.split(/[^a-z]+/).some((word) => secrets.includes(word.replace(/(?<=h)es$|s$/, '')));
}
