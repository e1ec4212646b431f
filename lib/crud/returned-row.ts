/**
 * PostgreSQL gives the row back that a statement has written: one round trip instead of two. What a trigger changes
 * behind that statement it does not give, so the statement says whether there is any.
 */
import type { DataSource, EntityMetadata } from 'typeorm';
import type { Written } from './record-store.js';
import type { RowProjection } from './row-projection.js';
import type { RawRow } from './statement.js';

export interface ReturnedRow<T> {
  /** @param table as the statement names it: what it is to be put behind */
  sql(event: Event, table: string): string;
  /** Without the record where it has to be read anew. */
  written(row: RawRow): Written<T> & { readonly key: unknown };
}

type Event = keyof typeof EVENTS;

/** Bits of `pg_trigger.tgtype` (PostgreSQL's catalog/pg_trigger.h). */
const EVENTS = { insert: 4, update: 16 } as const;
const BEFORE_OR_INSTEAD = 2 + 64;

/** @returns `undefined` on another database, and with replicas, where TypeORM reads elsewhere than it writes */
export function compileReturnedRow<T extends object>(
  row: RowProjection<T>,
  { tablePath }: EntityMetadata,
  { driver, options }: DataSource,
): ReturnedRow<T> | undefined {
  if (options.type !== 'postgres' || driver.isReplicated) return undefined;
  const path = tablePath.split('.').map((name) => driver.escape(name));
  const declared = `'${path.join('.').replaceAll("'", "''")}'::regclass`;
  const rules = `SELECT FROM pg_catalog.pg_rewrite WHERE ev_class = ${declared}`;
  return {
    sql: (event, table) => {
      // The triggers of a partition are its own.
      const triggers =
        `SELECT FROM pg_catalog.pg_trigger WHERE tgrelid IN (${declared}, ${driver.escape(table)}.tableoid) AND NOT tgisinternal ` +
        `AND tgenabled <> 'D' AND tgtype & ${BEFORE_OR_INSTEAD} = 0 AND tgtype & ${EVENTS[event]} <> 0`;
      return ` RETURNING ${row.returning}, EXISTS (${triggers}) OR EXISTS (${rules}) AS "changed"`;
    },
    written(returned) {
      const record = row.one(returned);
      return { key: record.id(), record: returned['changed'] === false ? record : undefined };
    },
  };
}
