/** One entity as another application has it, and the records that its test sends. */
import type { Type } from '@nestjs/common';
import type { CrudOptions } from 'declarest';
import type { DatabaseName } from '../harness/databases.js';

export type Body = Record<string, unknown>;

/** A record that an earlier model kept: `of(User).id`. @param which 0, the default, is the second that was created */
export type Kept = (entity: Type, which?: number) => Body;

export interface Model {
  readonly entity: Type;
  /** Records as they are sent, in the order of `by`. The first is changed and deleted, the others are kept for other models. */
  readonly records: (of: Kept) => readonly [first: Body, ...kept: Body[]];
  /** What PATCH changes in the first record. */
  readonly change: Body | ((of: Kept) => Body);
  /** The field by which lists are filtered and sorted; no two records have the same value. */
  readonly by: string;
  /** Where a value is read otherwise than it was sent. */
  readonly reads?: Body;
  /** Further lists, such as `include=owner`, which must be answered. */
  readonly queries?: readonly string[];
  readonly options?: Partial<CrudOptions>;
  /** Classes of the data source that have no endpoint. */
  readonly needs?: readonly Type[];
  /** By default, all. */
  readonly databases?: readonly DatabaseName[];
}

/** A view, or another entity that is only read; its rows come from the models before it. */
export interface ReadModel {
  readonly entity: Type;
  readonly by: string;
  readonly queries?: readonly string[];
  readonly options?: Partial<CrudOptions>;
}
