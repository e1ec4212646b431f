/** How many rows the planner of the database expects a statement to find, which costs the same for every table. */
import type { DataSource, ObjectLiteral, QueryRunner, SelectQueryBuilder } from 'typeorm';
import { isMysql, isPostgres } from '../../entities/database-family.js';

/** @returns `undefined` where the database gives no figure */
export async function estimateRows<T extends ObjectLiteral>(
  query: SelectQueryBuilder<T>,
  dataSource: DataSource,
  runner: QueryRunner | undefined,
): Promise<number | undefined> {
  const [sql, parameters] = query.select('1', 'found').getQueryAndParameters();
  const explain = (prefix: string): Promise<unknown> => dataSource.query(`${prefix} ${sql}`, parameters, runner);
  if (isPostgres(dataSource)) {
    const [row] = (await explain('EXPLAIN (FORMAT JSON)')) as PostgresPlan[];
    return figureOf(row?.['QUERY PLAN'][0]?.Plan['Plan Rows']);
  }
  if (!isMysql(dataSource)) return undefined;
  const [row] = (await explain('EXPLAIN')) as { readonly rows: unknown; readonly filtered?: unknown }[];
  const share = Number(row?.filtered ?? 100) / 100;
  return figureOf(Math.round(Number(row?.rows ?? Number.NaN) * share));
}

interface PostgresPlan {
  readonly 'QUERY PLAN': readonly { readonly Plan: { readonly 'Plan Rows': unknown } }[];
}

function figureOf(rows: unknown): number | undefined {
  const figure = Number(rows ?? Number.NaN);
  return Number.isSafeInteger(figure) && figure >= 0 ? figure : undefined;
}
