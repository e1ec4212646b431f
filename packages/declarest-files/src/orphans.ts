/** Finds files that no record refers to. */
import type { Type } from '@nestjs/common';
import { MoreThan, type DataSource } from 'typeorm';
import { fileColumnsOf, type StoredFile } from './file-column.js';
import type { FileStorage } from './file-storage.js';

const HOUR_MS = 3_600_000;
const PAGE = 1_000;

export interface OrphanOptions {
  /**
   * How old a file must be, in milliseconds: an upload stores its file before the record refers to it.
   * @default 3_600_000 an hour
   */
  readonly olderThanMs?: number;
}

/** The beginning of the keys of a column's files. Classes that share a table have different ones. */
export function prefixOf(dataSource: DataSource, entity: Type, column: string): string {
  const { tablePath, discriminatorColumn, discriminatorValue } = dataSource.getMetadata(entity);
  const name = discriminatorColumn ? `${tablePath}.${discriminatorValue}` : tablePath;
  return `${encodeURIComponent(name)}/${column}/`;
}

/**
 * The keys of files in the storage that no record of the entity refers to, hidden records included. They are left by a
 * crash, or by records that were removed by other means than the endpoints, such as a cascade. The keys that records refer
 * to are in memory meanwhile.
 * @example for await (const key of findOrphans(dataSource, Ticket, storage)) await storage.remove(key);
 */
export async function* findOrphans(
  dataSource: DataSource,
  entity: Type<object>,
  storage: FileStorage,
  { olderThanMs = HOUR_MS }: OrphanOptions = {},
): AsyncGenerator<string> {
  const latest = Date.now() - olderThanMs;
  const columns = [...fileColumnsOf(entity).keys()];
  const used = await usedKeys(dataSource, entity, columns);
  for (const column of columns)
    for await (const { key, changedAt } of storage.list(prefixOf(dataSource, entity, column)))
      if (!used.has(key) && changedAt.getTime() <= latest) yield key;
}

type Row = Readonly<Record<string, StoredFile | null | undefined>>;

/** Continues behind the last key, so that it misses no record while others are removed. */
async function usedKeys(dataSource: DataSource, entity: Type<object>, columns: readonly string[]) {
  const keys = dataSource.getMetadata(entity).primaryColumns.map(({ propertyName }) => propertyName);
  const all = (value: unknown, names: readonly string[]) => Object.fromEntries(names.map((name) => [name, value]));
  const used = new Set<string>();
  let where: object = {};
  for (;;) {
    const rows = (await dataSource.manager.find(entity, {
      where,
      select: all(true, [...keys, ...columns]),
      order: all('ASC', keys),
      take: PAGE,
      withDeleted: true,
      loadEagerRelations: false,
    })) as Row[];
    for (const row of rows) for (const column of columns) if (row[column]) used.add(row[column].key);
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) return used;
    const same = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, last[name]]));
    where = keys.map((name, index) => ({ ...same(keys.slice(0, index)), [name]: MoreThan(last[name]) }));
  }
}
