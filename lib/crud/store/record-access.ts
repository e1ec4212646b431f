import type { Type } from '@nestjs/common';
import type { EntityMetadata } from 'typeorm';
import type { EntityDescription, Field } from '../../entities/entity-schema.js';
import type { Values } from '../../entities/record-input.js';
import type { AggregateRow } from '../declare/record-types.js';
import type { Aggregation } from '../query/aggregate-query.js';
import type { Condition, SortKey } from '../sql/condition.js';
import type { Position } from '../sql/keyset.js';
import type { LinkSelection } from '../sql/link-sql.js';
import type { Call } from './call.js';

export interface StoredResource<T extends object = object> {
  readonly options: { readonly entity: Type<T> };
  readonly metadata: EntityMetadata;
  readonly schema: EntityDescription;
}

export interface Selection {
  readonly condition: Condition;
  readonly fields: readonly Field[];
  readonly sort: readonly SortKey[];
  readonly lock?: RowLock | undefined;
  readonly range?: { readonly limit: number; readonly offset: number };
}

/** Locks the rows until the end of the transaction, where one runs and the database has such locks. */
export type RowLock = 'for update';
export interface PositionedRecord<T> {
  readonly record: T;
  readonly position: Position;
}

/** A related record of an owner. One that several owners have comes once for each. */
export interface LinkedRecord<T> {
  readonly owner: unknown;
  readonly record: T;
}

/** Records have the selected fields and nothing else; their prototype is the entity's. */
export interface RecordReader<T> {
  find(call: Call, selection: Selection): Promise<T[]>;
  /**
   * The records behind a position of a sorted list, or its first ones. The cost does not depend on the position.
   * @param limit how many records at most
   */
  findAfter(
    call: Call,
    selection: Omit<Selection, 'range'>,
    limit: number,
    position: Position | undefined,
  ): Promise<PositionedRecord<T>[]>;
  findOne(call: Call, condition: Condition, fields: readonly Field[], lock?: RowLock): Promise<T | undefined>;
  findLinked(call: Call, links: LinkSelection, fields: readonly Field[]): Promise<LinkedRecord<T>[]>;
  count(call: Call, condition: Condition): Promise<number>;
  /** The planner's figure; `undefined` where the database gives none. */
  estimate(call: Call, condition: Condition): Promise<number | undefined>;
  exists(call: Call, condition: Condition): Promise<boolean>;
  aggregate(call: Call, condition: Condition, aggregation: Aggregation, limit: number): Promise<AggregateRow[]>;
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
  /** Whether `update` returns the record, as it leaves it. */
  readonly returnsUpdated: boolean;
  /**
   * @param fields read by the same statement, where it can
   * @returns `undefined` for a record that the database ignored
   */
  insert(
    call: Call,
    rows: readonly NewRow<T>[],
    fields?: readonly Field[],
  ): Promise<readonly (Inserted<T> | undefined)[]>;
  /**
   * One statement, so that of two concurrent updates one stays whole.
   * @param key of the record; the condition restricts it further
   * @param fields read by the same statement, where it can
   * @returns `undefined` where no record matched
   */
  update(
    call: Call,
    key: unknown,
    condition: Condition,
    values: Values,
    fields?: readonly Field[],
  ): Promise<Pick<Inserted<T>, 'record'> | undefined>;
  /**
   * @param purges removes the row also where the entity has a `@DeleteDateColumn`
   * @returns whether a record matched
   */
  remove(call: Call, key: unknown, condition: Condition, purges: boolean): Promise<boolean>;
  /** Restores a record that is marked as deleted. @returns whether one matched */
  restore(call: Call, key: unknown, condition: Condition): Promise<boolean>;
}
