/**
 * One SQL statement whose text is made at boot, and which is run with the values of a request. The data source's
 * logging and `maxQueryExecutionTime` see it as they see TypeORM's own, and it fails with the same `QueryFailedError`.
 */
import { createHash } from 'node:crypto';
import { QueryFailedError, type DataSource, type QueryRunner } from 'typeorm';
import { isMysql } from '../entities/database-family.js';
import type { Answer } from '../http/at-once.js';
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
    const watch = new Watch(dataSource, runnerOf(dataSource, 'master'), sql, bound);
    let outcome: Outcome;
    try {
      if (lock) throw lock;
      outcome = ask(bound);
    } catch (error) {
      throw watch.failed(error);
    }
    return watch.ended(outcome);
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
      withPostgres(dataSource, mode, (connection) => {
        const watch = new Watch(dataSource, runner, sql, parameters);
        return answer(connection, parameters).then(
          (outcome) => watch.ended(outcome),
          (error: unknown) => {
            throw watch.failed(error);
          },
        );
      }),
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

/** What TypeORM's query runners do around a query. */
class Watch {
  private readonly start: number;

  constructor(
    private readonly dataSource: DataSource,
    private readonly runner: QueryRunner,
    private readonly sql: string,
    private readonly parameters: readonly unknown[],
  ) {
    dataSource.logger.logQuery(sql, parameters as unknown[], runner);
    this.start = this.slow ? Date.now() : 0;
  }

  ended(outcome: Outcome): Outcome {
    const { slow } = this;
    const time = slow ? Date.now() - this.start : 0;
    if (slow && time > slow)
      this.dataSource.logger.logQuerySlow(time, this.sql, this.parameters as unknown[], this.runner);
    return outcome;
  }

  failed(error: unknown): QueryFailedError {
    const values = this.parameters as unknown[];
    this.dataSource.logger.logQueryError(error as Error, this.sql, values, this.runner);
    return new QueryFailedError(this.sql, values, error as Error);
  }

  private get slow(): number | undefined {
    return (this.dataSource.options as { maxQueryExecutionTime?: number }).maxQueryExecutionTime;
  }
}
