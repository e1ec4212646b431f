/** Reads sorted lists behind a position: one statement for each block, until there are enough records. */
import type { DataSource, ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import type { Field } from '../../entities/entity-schema.js';
import { and } from '../sql/condition.js';
import { blocksAfter, type Position } from '../sql/keyset.js';
import { dialectOf } from '../sql/dialect.js';
import type { PositionedRecord, Selection } from './record-access.js';

/** @param read runs one statement, whose rows have the values of the keys */
export async function findInBlocks<T>(
  selection: Omit<Selection, 'range'>,
  limit: number,
  position: Position | undefined,
  read: (selection: Selection, keys: readonly Field[]) => Promise<PositionedRecord<T>[]>,
): Promise<PositionedRecord<T>[]> {
  const keys = selection.sort.map(({ field }) => field);
  const found: PositionedRecord<T>[] = [];
  for (const { condition, sort } of blocksAfter(selection.sort, position)) {
    const range = { limit: limit - found.length, offset: 0 };
    const block = { ...selection, condition: and(selection.condition, condition), sort, range };
    found.push(...(await read(block, keys)));
    if (found.length >= limit) break;
  }
  return found;
}

const aliasOf = (place: number): string => `key${place}`;

export function selectPosition<T extends ObjectLiteral>(
  query: SelectQueryBuilder<T>,
  keys: readonly Field[],
  dataSource: DataSource,
): void {
  const dialect = dialectOf(dataSource);
  for (const [place, field] of keys.entries()) {
    const name = `${query.escape(query.alias)}.${query.escape(field.column.databaseName)}`;
    query.addSelect(dialect.exactText(name, field), aliasOf(place));
  }
}

export const positionOf = (row: Readonly<Record<string, unknown>>, keys: readonly Field[]): Position =>
  keys.map((_, place) => (row[aliasOf(place)] ?? null) as Position[number]);
