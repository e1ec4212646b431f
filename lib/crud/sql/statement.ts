import type { DataSource, QueryBuilder, QueryRunner, ReplicationMode } from 'typeorm';
import { PARAMETER } from './condition-sql.js';

export type RawRow = Readonly<Record<string, unknown>>;

export interface StatementResult {
  readonly rows: readonly RawRow[];
  readonly affected: number;
  /** The key of a new row, on databases without `RETURNING`. */
  readonly insertedKey: unknown;
}

/**
 * One SQL statement whose text is compiled once, run with the values of each request.
 * @param runner that of the transaction which the statement belongs to
 */
export type Statement = (values: readonly unknown[], runner: QueryRunner | undefined) => Promise<StatementResult>;

/** Writes what a query builder cannot: `parameter(place)` is the SQL of the value at that place. */
export type StatementEnd = (parameter: (place: number) => string) => string;

/**
 * Compiles what a query builder wrote. Each run takes a query runner of the data source, so that TypeORM logs it, times
 * it and translates its errors.
 * @param query its parameters are `namedParameters`
 */
export function compileStatement(
  dataSource: DataSource,
  mode: ReplicationMode,
  query: QueryBuilder<object>,
  end: StatementEnd = () => '',
): Statement {
  // The query builder decides the order of the parameters.
  const [start, names] = query.getQueryAndParameters();
  const places = names.map((name) => Number(String(name).slice(PARAMETER.length)));
  const sql = start + end((place) => dataSource.driver.createParameter('', places.push(place) - 1));
  return async (values, joined) => {
    const runner = joined ?? dataSource.createQueryRunner(mode);
    try {
      const parameters = places.map((place) => values[place]);
      const { records, affected, raw } = await runner.query(sql, parameters, true);
      return {
        rows: Array.isArray(records) ? (records as RawRow[]) : [],
        affected: affected ?? 0,
        insertedKey: (raw as { readonly insertId?: unknown } | undefined)?.insertId,
      };
    } finally {
      if (!joined) await runner.release();
    }
  };
}

export const parameterName = (place: number): string => `${PARAMETER}${place}`;

/** A value for each parameter: its own name, which shows its place in the statement. */
export const namedParameters = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, place) => [parameterName(place), parameterName(place)]));
