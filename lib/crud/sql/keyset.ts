/**
 * Continues a sorted list behind a record (keyset pagination). The rest of the list is divided into blocks, each of which
 * an index on the sorted columns finds at once, also among equal values and NULLs.
 */
import { and, compare, EVERYTHING, type Condition, type SortKey } from './condition.js';

/** The exact values of a record's sort keys, in their order. */
export type Position = readonly (string | number | null)[];

export interface Block {
  readonly condition: Condition;
  /** Without the keys that are equal in the whole block. */
  readonly sort: readonly SortKey[];
}

/** @returns the blocks in the order of the list */
export function blocksAfter(sort: readonly SortKey[], position: Position | undefined): Block[] {
  if (!position) return wholeList(sort);
  const blocks: Block[] = [];
  for (let last = sort.length - 1; last >= 0; last -= 1) {
    const [key, ...rest] = sort.slice(last);
    const equal = sort.slice(0, last).map(({ field }, place) => equalTo(field, position[place]));
    for (const block of key ? behind(key, rest, position[last]) : [])
      blocks.push({ ...block, condition: and(...equal, block.condition) });
  }
  return blocks;
}

/** Statements that read no NULLs need no expression that places them, and can use an index. */
function wholeList(sort: readonly SortKey[]): Block[] {
  const [key, ...rest] = sort;
  if (!key?.field.nullable) return [{ condition: EVERYTHING, sort }];
  const blocks = [valuesOf(key, rest, compare(key.field, 'isNotNull')), nullsOf(key, rest)];
  return key.descending ? blocks.toReversed() : blocks;
}

/** NULLs come last ascending and first descending. */
function behind(key: SortKey, rest: readonly SortKey[], value: Position[number] | undefined): Block[] {
  const { field, descending } = key;
  if (value == null) return descending ? [valuesOf(key, rest, compare(field, 'isNotNull'))] : [];
  const values = valuesOf(key, rest, compare(field, descending ? 'isBelow' : 'isAbove', value));
  return field.nullable && !descending ? [values, nullsOf(key, rest)] : [values];
}

const valuesOf = ({ field, descending }: SortKey, rest: readonly SortKey[], condition: Condition): Block => ({
  condition,
  sort: [{ field: { ...field, nullable: false }, descending }, ...rest],
});

const nullsOf = ({ field }: SortKey, sort: readonly SortKey[]): Block => ({
  condition: compare(field, 'isNull'),
  sort,
});

const equalTo = (field: SortKey['field'], value: Position[number] | undefined): Condition =>
  value == null ? compare(field, 'isNull') : compare(field, 'isExactly', value);
