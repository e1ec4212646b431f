import type { Values } from '../../entities/record-input.js';
import type { Term } from '../query/list-query.js';

export interface Range {
  readonly limit: number;
  readonly offset: number;
}

/** Records have every readable field and nothing else; their prototype is the entity's. */
export interface RecordReader<T> {
  /** In the order of the primary key. */
  find(terms: readonly Term[], range?: Range): Promise<T[]>;
  count(terms: readonly Term[]): Promise<number>;
  findByKey(key: unknown): Promise<T | undefined>;
  exists(key: unknown): Promise<boolean>;
}

export interface RecordWriter<T> {
  /**
   * @param entity a new one, which the values are put into
   * @returns the key of the new record; `undefined` where the database ignored the statement
   */
  insert(entity: T, values: Values): Promise<unknown>;
  /** One statement, so that of two concurrent replacements one stays whole. A function is SQL instead of a value. */
  update(key: unknown, values: Values): Promise<void>;
  /** @returns whether there was a record */
  remove(key: unknown): Promise<boolean>;
}
