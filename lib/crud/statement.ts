/**
 * One SQL statement whose text is made at boot, and which is run with the values of a request. The data source's
 * logging and `maxQueryExecutionTime` see it as they see TypeORM's own, and it fails with the same `QueryFailedError`.
 */
import { createHash } from 'node:crypto';
import { QueryFailedError, type DataSource, type QueryRunner } from 'typeorm';
import { isMysql } from '../schema/database-family.js';
import { after, orElse, type Answer } from '../http/at-once.js';
import { KeptAnswer } from './kept-answer.js';
import { query, withPostgres, type PostgresConnection } from './postgres-connection.js';
import type { SqliteConnection, SqliteStatement } from './sqlite-connection.js';

export type RawRow = Readonly<Record<string, unknown>>;

export interface Outcome {
  readonly rows: readonly RawRow[];
  /** Rows that were changed. */
  readonly affected: number;
  /** The key that the database gave a new row, where it tells of it without `RETURNING`. */
  readonly insertedKey?: unknown;
}

export interface Statement {
  run(parameters: readonly unknown[]): Answer<Outcome>;
}

export interface StatementText {
  readonly sql: string;
  /** On a replicated data source: where it runs. */
  readonly mode: 'master' | 'slave';
  /**
   * PostgreSQL keeps a named statement prepared, and plans it once for all values after five runs. That is right where
   * the plan does not depend on them, and a disaster for a search (the plan of a frequent word for a rare one).
   */
  readonly named: boolean;
  /** It asks for a key: there is one row, or none. */
  readonly single?: boolean;
  /** It has no parameters, and asks for what the rows of this table alone decide on. */
  readonly rowsOf?: string;
}

/** A driver that is not in the table has no compiled path. */
const rows: readonly [speaks: (dataSource: DataSource) => boolean, prepare: Prepare][] = [
  [({ options }) => options.type === 'better-sqlite3', prepareSqlite],
  [({ options }) => options.type === 'postgres', preparePostgres],
  [isMysql, prepareMysql],
];

type Prepare = (dataSource: DataSource, text: StatementText) => Statement;

export function statementsOf(dataSource: DataSource): ((text: StatementText) => Statement) | undefined {
  const prepare = rows.find(([speaks]) => speaks(dataSource))?.[1];
  return prepare && ((text) => prepare(dataSource, text));
}

/** The one connection is TypeORM's, so that its transactions hold for the statement too. */
function prepareSqlite(dataSource: DataSource, { sql, single = false, rowsOf }: StatementText): Statement {
  const driver = dataSource.driver as unknown as { databaseConnection?: SqliteConnection };
  let connection: SqliteConnection | undefined;
  let prepared: SqliteStatement | undefined;
  const prepare = (): SqliteStatement => {
    if (prepared && driver.databaseConnection === connection) return prepared;
    connection = driver.databaseConnection;
    if (!connection) throw new TypeError('The data source is not connected');
    const statement = connection.prepare(sql);
    // A new row's key may be beyond 53 bits.
    return (prepared = statement.reader ? statement : statement.safeIntegers(true));
  };
  const ask = (parameters: readonly unknown[]): Outcome => {
    const statement = prepare();
    if (statement.reader) {
      if (!single) return { rows: statement.all(...parameters), affected: 0 };
      const row = statement.get(...parameters);
      return { rows: row ? [row] : [], affected: 0 };
    }
    const { changes, lastInsertRowid } = statement.run(...parameters);
    const key = Number(lastInsertRowid);
    // No bigint: a logger that writes its parameters as JSON would fail.
    const insertedKey = Number.isSafeInteger(key) ? key : String(lastInsertRowid);
    return { rows: [], affected: Number(changes), insertedKey };
  };
  const run = (parameters: readonly unknown[], lock?: Error): Outcome => {
    // The driver binds no booleans.
    const bound = parameters.map((value) => (typeof value === 'boolean' ? Number(value) : value));
    return observed({ dataSource, runner: runnerOf(dataSource, 'master'), sql, parameters: bound }, (values) => {
      if (lock) throw lock;
      return ask(values);
    });
  };
  if (rowsOf === undefined) return { run: (parameters) => run(parameters) };
  const kept = new KeptAnswer<Outcome>(rowsOf);
  return { run: (parameters) => kept.of(driver.databaseConnection, (lock) => run(parameters, lock)) };
}

/**
 * The statement is not known to the connection (a pooler gave it another one, or `DISCARD ALL` was said), or the schema
 * has changed since it was prepared. It was refused before it ran: it may be asked anew.
 */
const isStale = ({ code, routine }: { code?: unknown; routine?: unknown }): boolean =>
  code === '26000' || code === '42P05' || (code === '0A000' && routine === 'RevalidateCachedQuery');

/** Behind such a pooler every name is one too many. */
const MOST_NAMES = 16;

function preparePostgres(dataSource: DataSource, { sql, mode, named }: StatementText): Statement {
  const digest = createHash('sha256').update(sql).digest('hex').slice(0, 32);
  const nameOf = (generation: number): string => `declarest_${digest}_${generation}`;
  let generation = 0;
  let name = nameOf(generation);
  // Loggers are told of one; it takes no connection.
  const runner = runnerOf(dataSource, mode);
  const answer = async (connection: PostgresConnection, values: readonly unknown[]): Promise<Outcome> => {
    const isNamed = named && generation < MOST_NAMES;
    try {
      return outcomeOf(await query(connection, isNamed ? { text: sql, name } : { text: sql }, values));
    } catch (error) {
      if (!isNamed || !isStale(error as object)) throw error;
      name = nameOf(++generation);
      return outcomeOf(await query(connection, { text: sql }, values));
    }
  };
  return {
    run: (parameters) =>
      withPostgres(dataSource, mode, (connection) =>
        observed({ dataSource, runner, sql, parameters }, (values) => answer(connection, values)),
      ),
  };
}

const outcomeOf = ({ rows, rowCount }: Awaited<ReturnType<typeof query>>): Outcome => ({
  rows,
  affected: rowCount ?? 0,
});

/** TypeORM asks this driver in text, whose values are other ones than those of its prepared statements. */
function prepareMysql(dataSource: DataSource, { sql, mode }: StatementText): Statement {
  return {
    run: async (parameters) => {
      const runner = runnerOf(dataSource, mode);
      try {
        const { records, affected, raw } = await runner.query(sql, [...parameters], true);
        return {
          rows: Array.isArray(records) ? (records as RawRow[]) : [],
          affected: affected ?? 0,
          insertedKey: (raw as { insertId?: unknown }).insertId,
        };
      } finally {
        await runner.release();
      }
    },
  };
}

/** Of the driver: the data source would make an entity manager for it. */
const runnerOf = ({ driver }: DataSource, mode: StatementText['mode']): QueryRunner => driver.createQueryRunner(mode);

interface Asked {
  readonly dataSource: DataSource;
  readonly runner: QueryRunner;
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** What TypeORM's query runners do around a query. */
function observed<R extends Answer<Outcome>>(
  { dataSource, runner, sql, parameters }: Asked,
  ask: (parameters: readonly unknown[]) => R,
): R {
  const { logger, options } = dataSource;
  const values = parameters as unknown[];
  const slow = (options as { maxQueryExecutionTime?: number }).maxQueryExecutionTime;
  logger.logQuery(sql, values, runner);
  const start = slow ? Date.now() : 0;
  const failed = (error: unknown): never => {
    logger.logQueryError(error as Error, sql, values, runner);
    throw new QueryFailedError(sql, values, error as Error);
  };
  const answer = orElse<Outcome>(() => ask(parameters), failed) as R;
  if (!slow) return answer;
  return after(answer, (outcome) => {
    const time = Date.now() - start;
    if (time > slow) logger.logQuerySlow(time, sql, values, runner);
    return outcome;
  }) as R;
}
