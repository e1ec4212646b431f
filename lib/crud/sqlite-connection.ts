/** What is used of better-sqlite3. */
import type { RawRow } from './statement.js';

export interface SqliteConnection {
  /** Not every driver that stands in for it tells. */
  readonly inTransaction?: boolean;
  prepare(sql: string): SqliteStatement;
}

export interface SqliteStatement {
  /** Whether it gives rows. */
  readonly reader: boolean;
  all(...parameters: unknown[]): RawRow[];
  get(...parameters: unknown[]): RawRow | undefined;
  run(...parameters: unknown[]): { changes: number; lastInsertRowid: unknown };
  safeIntegers(on: boolean): SqliteStatement;
  /** Gives the first column instead of rows. */
  pluck(): SqliteStatement;
}
