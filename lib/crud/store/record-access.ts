import type { Field } from '../../entities/entity-schema.js';
import type { Values } from '../../entities/record-input.js';
import type { Condition, SortKey } from '../sql/condition.js';
import type { Call } from './call.js';

export interface Selection {
  readonly condition: Condition;
  readonly fields: readonly Field[];
  readonly sort: readonly SortKey[];
  /** Locks the rows until the end of the transaction, where one runs and the database has such locks. */
  readonly isLocked?: boolean | undefined;
  readonly range?: { readonly limit: number; readonly offset: number };
}

export interface NewRow<T> {
  readonly entity: T;
  readonly values: Values;
}

export interface Inserted<T> {
  readonly key: unknown;
  /** Set if it was asked for, and the database has `RETURNING`. */
  readonly record?: T | undefined;
}

export interface RecordWriter<T> {
  /** @param fields read by the same statement, if it can @returns `undefined` for a record that was ignored */
  insert(
    call: Call,
    rows: readonly NewRow<T>[],
    fields?: readonly Field[],
  ): Promise<readonly (Inserted<T> | undefined)[]>;
  /**
   * One statement, so that of two concurrent updates one stays whole.
   * @param key of the record; the condition restricts it further
   * @param fields read by the same statement, where it can
   * @param check runs after listeners, before the statement
   * @returns `undefined` where no record matched
   */
  update(
    call: Call,
    key: unknown,
    condition: Condition,
    values: Values,
    fields?: readonly Field[],
    check?: (call: Call) => Promise<void>,
  ): Promise<Pick<Inserted<T>, 'record'> | undefined>;
  /** @param purges removes the row also of an entity with `@DeleteDateColumn` @returns whether a record matched */
  remove(call: Call, key: unknown, condition: Condition, purges: boolean): Promise<boolean>;
  /** Restores a record that is marked as deleted. @returns whether one matched */
  restore(call: Call, key: unknown, condition: Condition): Promise<boolean>;
}
