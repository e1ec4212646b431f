/** What a driver's error means, decided by its codes and messages. A new driver is a new row. */
import { QueryFailedError } from 'typeorm';
import { ServiceUnavailable } from '../http/failure.js';

/**
 * `conflict`: a unique or foreign-key constraint. `invalid`: a value that the column, an index or a trigger does not
 * accept. `denied`: row-level security, or a missing grant. `unavailable`: no connection, a lock, a time limit, a standby
 * or a full disk; the request may be repeated. `read-only`: a view that cannot be written.
 */
export type DatabaseFailure = 'conflict' | 'invalid' | 'denied' | 'unavailable' | 'read-only';

const rows: readonly [DatabaseFailure, RegExp][] = [
  // SQLite: better-sqlite3 has extended codes, node:sqlite their numbers; all drivers bring SQLite's own messages.
  ['conflict', /^(SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY|ROWID|FOREIGNKEY|TRIGGER)|SQLite 1811)$/],
  ['conflict', /^([\w ]+: )*(UNIQUE|FOREIGN KEY|immediate foreign key) constraint failed\b/],
  ['invalid', /^(SQLITE_CONSTRAINT|SQLITE_MISMATCH|SQLITE_TOOBIG|SQLITE_RANGE)/],
  ['unavailable', /^SQLITE_(BUSY|LOCKED|READONLY|FULL)/],
  ['invalid', /^([\w ]+: )*((NOT NULL|CHECK) constraint failed: |cannot store \w+ value in )/],
  ['invalid', /^([\w ]+: )*(datatype mismatch|string or blob too big)$/],
  ['unavailable', /^([\w ]+: )*(database( table| schema| or disk)? is (locked|full)|attempt to write a readonly)/],
  ['read-only', /^cannot modify .+ because it is a view$/],
  // PostgreSQL, by SQLSTATE. Class 22: data, 23: constraints, 44: check option of a view, 54: limits, P0001: raised by a
  // trigger, 40: rolled back, 25006: a standby, 55P03 and 57014: time limits. Not pg's own `query_timeout`: the server
  // continues to run that statement.
  ['conflict', /^(23505|23503|23001|23P01)$/],
  ['denied', /^42501$/],
  ['invalid', /^((22|23|44|54)[0-9A-Z]{3}|P0001)$/],
  // PostgreSQL reports a malformed value of these types as a syntax error. Only the name of the source file distinguishes it.
  ['invalid', /^(tsquery|tsvector\w*|hstore_io|ltree_io|ltxtquery_io|jsonpath_\w+)\.[cly]$/],
  ['unavailable', /^(40[0-9A-Z]{3}|25006|55P03|57014)$/],
  // A pooler keeps plans longer than a migration keeps the table. Their codes have other meanings too.
  ['unavailable', /^(cached plan must not change result type$|materialized view ".+" has not been populated$)/],
  // Not by code 55000, which has other meanings too.
  ['read-only', /^cannot (insert into|update|delete from) view "/],
  ['read-only', /^cannot change materialized view "/],
  // MySQL, MariaDB.
  ['conflict', /^ER_(DUP_|ROW_IS_REFERENCED|NO_REFERENCED_ROW)/],
  ['denied', /^ER_(TABLE|COLUMN|PROC|SPECIFIC_|DB)ACCESS_DENIED/],
  [
    'invalid',
    /^(ER_CANT_AGGREGATE_|ER_DATA_|ER_TRUNCATED|ER_WARN_DATA|ER_BAD_NULL|ER_NO_DEFAULT|ER_CHECK_CONSTRAINT|ER_CONSTRAINT_FAILED|ER_INVALID_JSON|WARN_DATA_TRUNCATED|ER_CANNOT_CONVERT|ER_SIGNAL_|ER_VIEW_CHECK_FAILED|ER_DIVISION_BY_ZERO|ER_NO_PARTITION_FOR|ER_GIS_INVALID_DATA|ER_FUNCTIONAL_INDEX_DATA|ER_WRONG_MVI_VALUE)/,
  ],
  ['invalid', /^ER_(TOO_BIG_ROWSIZE|UNDO_RECORD_TOO_BIG|NET_PACKET_TOO_LARGE|STACK_OVERRUN)/],
  // MariaDB's CHECK, also of a JSON column. MySQL uses its error number for something else.
  ['invalid', /^CONSTRAINT `.+` failed for /],
  ['unavailable', /^(ER_LOCK_|ER_CHECKREAD$|Query execution was interrupted)/],
  // A replica, and a full disk: error 28 of the operating system.
  ['unavailable', /^ER_(OPTION_PREVENTS_STATEMENT|CANT_EXECUTE_IN_READ_ONLY_TRANSACTION|READ_ONLY_MODE)$/],
  ['unavailable', /^(ER_DISK_FULL$|ER_RECORD_FILE_FULL$|Got error 28\b)|\(errno: 28\b/],
  ['read-only', /^ER_NON_(UPDATABLE|INSERTABLE)_TABLE$/],
  // What a trigger chose for RAISE or SIGNAL and no row above means: in PL/pgSQL any SQLSTATE, elsewhere one of its own.
  ['invalid', /^exec_stmt_raise$/],
  ['invalid', /^SQLSTATE (?=.*\d)(45|(?!0|10|[2-4]|5[3-8]|7[02]|F0|H[VYZ]|P0|X[AX])..)[0-9A-Z]{3}$/],
];

/** No connection: refused, ended by the server or the network, or none free in the pool. */
const CONNECTION_ERRORS: readonly RegExp[] = [
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/,
  // PostgreSQL: connection exceptions, no resources such as free connections, shutdown, starting up. And pg with its pool.
  /^(08[0-9A-Z]{3}|53[0-9A-Z]{3}|57P0[1-5]|severity (FATAL|PANIC))$/,
  // TypeORM, whose runner lost its connection: the driver's error reached nobody.
  /^Query runner already released\./,
  /^(Connection terminated|Client (has encountered a connection error|was closed) and is not queryable)/,
  /^(timeout exceeded when trying to connect|Cannot use a pool after calling end on the pool)$/,
  // MySQL, MariaDB: mysql2 with its pool and its cluster, and nodes that left their cluster or have not joined it yet.
  /^(PROTOCOL_CONNECTION_LOST|ER_(SERVER|NORMAL)_SHUTDOWN|ER_CONNECTION_KILLED|ER_(CON_COUNT|TOO_MANY_USER_CONN))/,
  /^(Connection lost: |Can't (add new command when connection is|write) in closed state|Connection was killed$)/,
  /^(No connections available|Queue limit reached|Pool is closed|Pool does Not (exist|have online node))\.$/,
  /^ER_(UNKNOWN_COM_ERROR|SERVER_OFFLINE_MODE|SESSION_WAS_KILLED|CLIENT_INTERACTION_TIMEOUT|USER_LIMIT_REACHED)$/,
  /^ER_(ERROR|TRANSACTION_ROLLBACK)_DURING_COMMIT$|\(provider status: Not connected to Primary Component\)/,
  // sql.js, whose file cannot be written.
  /^Could not save database, /,
];

type DriverError = Readonly<Record<string, unknown>>;

export function databaseFailureOf(error: unknown): DatabaseFailure | undefined {
  const isQuery = error instanceof QueryFailedError;
  const driverError = ((isQuery ? error.driverError : error) ?? {}) as DriverError;
  const { code, sqlState = code, message, file, routine, severity, errcode } = driverError;
  const named = [`SQLSTATE ${String(sqlState)}`, `severity ${String(severity)}`, `SQLite ${String(errcode)}`];
  const texts = [code, message, file, routine, ...named].map(String);
  const matches = (form: RegExp): boolean => texts.some((text) => form.test(text));
  if (CONNECTION_ERRORS.some(matches)) return 'unavailable';
  return isQuery ? rows.find(([, form]) => matches(form))?.[0] : undefined;
}

/** Whether another transaction made the database roll this one back, by a deadlock or by its isolation level. */
export function isLostRace(error: unknown): boolean {
  const { code, errcode } = (error instanceof QueryFailedError ? error.driverError : {}) as DriverError;
  return /^(40001|40P01|ER_LOCK_DEADLOCK|ER_CHECKREAD|SQLITE_BUSY_SNAPSHOT|517)$/.test(String(errcode ?? code));
}

/** The driver's error where the database was unavailable to a write, and may be to the next one: it was not a lost race. */
export function outageOf(error: unknown): unknown {
  const cause = error instanceof DatabaseUnavailable ? error.cause : error;
  return databaseFailureOf(cause) === 'unavailable' && !isLostRace(cause) ? cause : undefined;
}

export class DatabaseUnavailable extends ServiceUnavailable {
  constructor(options?: { readonly cause: unknown }) {
    super('The database is temporarily unavailable, try again', 5, options);
  }
}
