/** What a database refused, told by the codes of the drivers: a new driver is a new row. */
import { ServiceUnavailableException } from '@nestjs/common';
import { QueryFailedError } from 'typeorm';

/**
 * `conflict`: a unique or foreign-key constraint. `invalid`: a value that the column does not take. `busy`: try again.
 * `fixed`: a view, of which nothing can be changed.
 */
export type DatabaseRefusal = 'conflict' | 'invalid' | 'busy' | 'fixed';

const rows: readonly [DatabaseRefusal, RegExp][] = [
  // SQLite: better-sqlite3 has extended codes, sqlite3 the plain one and says which constraint in its message.
  ['conflict', /^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY|ROWID|FOREIGNKEY|TRIGGER)$/],
  ['conflict', /^SQLITE_CONSTRAINT: .*\b(UNIQUE|FOREIGN KEY)\b/],
  ['invalid', /^(SQLITE_CONSTRAINT|SQLITE_MISMATCH|SQLITE_TOOBIG|SQLITE_RANGE)/],
  ['busy', /^SQLITE_(BUSY|LOCKED)/],
  ['fixed', /^cannot modify .+ because it is a view$/],
  // PostgreSQL: SQLSTATE. 23505 unique, 23503 foreign key, 23P01 exclusion; 22 data, 23 other constraints, P0001 what a
  // trigger raises; 40 rolled back, 55P03 and 57014 a time limit, 53 no room. Not pg's own `query_timeout`: what was asked
  // goes on, and may be done yet.
  ['conflict', /^(23505|23503|23001|23P01)$/],
  ['invalid', /^((22|23)[0-9A-Z]{3}|P0001)$/],
  // Of these types' values it says a syntax error, as of a statement's, or an inner one: what tells is its file that reads them.
  ['invalid', /^(tsquery|tsvector\w*|hstore_io|ltree_io|ltxtquery_io|jsonpath_\w+)\.[cly]$/],
  ['busy', /^(40[0-9A-Z]{3}|55P03|57014|53[0-9A-Z]{3})$/],
  // Not by 55000, which is that of other mistakes, too, such as a missing replica identity.
  ['fixed', /^cannot (insert into|update|delete from) view "/],
  ['fixed', /^cannot change materialized view "/],
  // MySQL, MariaDB.
  ['conflict', /^ER_(DUP_|ROW_IS_REFERENCED|NO_REFERENCED_ROW)/],
  [
    'invalid',
    /^(ER_DATA_|ER_TRUNCATED|ER_WARN_DATA|ER_BAD_NULL|ER_NO_DEFAULT|ER_CHECK_CONSTRAINT|ER_CONSTRAINT_FAILED|ER_INVALID_JSON|WARN_DATA_TRUNCATED|ER_CANNOT_CONVERT|ER_SIGNAL_EXCEPTION)/,
  ],
  // MariaDB's CHECK, also that of a JSON column: MySQL has another name for its number.
  ['invalid', /^CONSTRAINT `.+` failed for /],
  ['busy', /^(ER_LOCK_|Query execution was interrupted)/],
  ['fixed', /^ER_NON_(UPDATABLE|INSERTABLE)_TABLE$/],
];

/** Of the pools of pg and mysql2, whose connections are all in use: the query was never asked. */
const NO_CONNECTION = /^(timeout exceeded when trying to connect|No connections available\.|Queue limit reached\.)$/;

export function refusalOf(error: unknown): DatabaseRefusal | undefined {
  if (error instanceof Error && NO_CONNECTION.test(error.message)) return 'busy';
  if (!(error instanceof QueryFailedError)) return undefined;
  const { code, file } = error.driverError as Error & { readonly code?: unknown; readonly file?: unknown };
  const texts = [String(code), error.driverError.message, String(file)];
  return rows.find(([, form]) => texts.some((text) => form.test(text)))?.[0];
}

/** 503: the same may be asked again. */
export class DatabaseBusy extends ServiceUnavailableException {
  constructor(options?: { readonly cause: unknown }) {
    super('The database is busy, try again', options);
  }
}
