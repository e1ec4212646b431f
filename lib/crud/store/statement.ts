import type { DataSource, ReplicationMode } from 'typeorm';

export type RawRow = Readonly<Record<string, unknown>>;

export interface StatementResult {
  readonly rows: readonly RawRow[];
  /** Rows that were changed. */
  readonly affected: number;
  /** The key of a new row, on databases without `RETURNING`. */
  readonly insertedKey: unknown;
}

/** One SQL statement whose text is compiled once, run with the values of each request. */
export type Statement = (parameters: readonly unknown[]) => Promise<StatementResult>;

/**
 * Each run takes a query runner of the data source, so that TypeORM logs it, times it and translates its errors.
 *
 * @param mode where it runs on a replicated data source
 */
export const compileStatement =
  (dataSource: DataSource, mode: ReplicationMode, sql: string): Statement =>
  async (parameters) => {
    const runner = dataSource.createQueryRunner(mode);
    try {
      const { records, affected, raw } = await runner.query(sql, [...parameters], true);
      return {
        rows: Array.isArray(records) ? (records as RawRow[]) : [],
        affected: affected ?? 0,
        insertedKey: (raw as { readonly insertId?: unknown } | undefined)?.insertId,
      };
    } finally {
      await runner.release();
    }
  };
