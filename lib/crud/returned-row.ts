/**
 * PostgreSQL gives the row back that a statement has written: one round trip instead of two. What is changed behind that
 * statement, by triggers, rules or cascades, it does not give, so the statement says whether anything may have been.
 */
import type { DataSource, EntityMetadata } from 'typeorm';
import type { Written } from './record-store.js';
import type { RowProjection } from './row-projection.js';
import type { RawRow } from './statement.js';

export interface ReturnedRow<T> {
  /** To be put behind the statement. */
  sql(event: Event): string;
  /** Without the record where it has to be read anew. */
  written(row: RawRow): Written<T> & { readonly key: unknown };
}

type Event = keyof typeof EVENTS;

/** Bits of `pg_trigger.tgtype` (PostgreSQL's catalog/pg_trigger.h). */
const EVENTS = { insert: 4, update: 16 } as const;
const BEFORE_OR_INSTEAD = 2 + 64;
/** The database's own triggers that change other rows where a key has changed, among them those of the same table. */
const CASCADES = ['cascade', 'setnull', 'setdefault'].map((what) => `'pg_catalog."RI_FKey_${what}_upd"'::regproc`);

/** @returns `undefined` on another database, and with replicas, where TypeORM reads elsewhere than it writes */
export function compileReturnedRow<T extends object>(
  row: RowProjection<T>,
  { tablePath, deleteDateColumn }: EntityMetadata,
  { driver, options }: DataSource,
): ReturnedRow<T> | undefined {
  if (options.type !== 'postgres' || driver.isReplicated) return undefined;
  const path = tablePath.split('.').map((name) => driver.escape(name));
  const table = `'${path.join('.').replaceAll("'", "''")}'::regclass`;
  // Views, and tables whose rows stand in others, have triggers elsewhere.
  const plain = `relkind = 'r' AND NOT relhassubclass AND NOT relhasrules`;
  // A trigger before the statement may have marked the row as deleted: then there is none.
  const deleted = deleteDateColumn ? ` OR ${driver.escape(deleteDateColumn.databaseName)} IS NOT NULL` : '';
  const changed = (event: Event): string =>
    `NOT (SELECT ${plain} FROM pg_catalog.pg_class WHERE oid = ${table}) ` +
    `OR EXISTS (SELECT FROM pg_catalog.pg_trigger WHERE tgrelid = ${table} AND tgenabled <> 'D' AND (tgfoid IN (${CASCADES.join()}) ` +
    `OR NOT tgisinternal AND tgtype & ${BEFORE_OR_INSTEAD} = 0 AND tgtype & ${EVENTS[event]} <> 0))${deleted}`;
  return {
    sql: (event) => ` RETURNING ${row.returning}, ${changed(event)} AS "changed"`,
    written(returned) {
      const record = row.one(returned);
      return { key: record.id(), record: returned['changed'] === false ? record : undefined };
    },
  };
}
