/**
 * An answer of SQLite that holds until somebody writes: the total of a table, for which SQLite walks through all of it.
 * What has happened since a connection asked is known to it at once (sqlite.org/pragma.html, sqlite.org/c3ref).
 */
import type { SqliteConnection, SqliteStatement } from './sqlite-connection.js';

interface State {
  readonly connection: SqliteConnection;
  readonly schema: string;
  /** Not a view or a virtual table, whose rows come from elsewhere, nor a temporary one, nor one of an attached database. */
  readonly isTable: boolean;
  readonly foreign: unknown;
  readonly own: unknown;
}

const isSame = (a: State, b: State): boolean =>
  a.connection === b.connection && a.schema === b.schema && a.foreign === b.foreign && a.own === b.own;

const isLock = (error: unknown): error is Error =>
  error instanceof Error && /^SQLITE_(BUSY|LOCKED)/.test((error as { code?: string }).code ?? '');

export class KeptAnswer<A> {
  private kept: { readonly state: State; readonly answer: A } | undefined;

  /** @param table whose rows alone decide on the answer */
  constructor(private readonly table: string) {}

  /** @param ask told of the lock that SQLite has waited for already, to no avail: it would wait as long once more */
  of(connection: SqliteConnection | undefined, ask: (lock?: Error) => A): A {
    // What is asked in a transaction may be rolled back, and nothing would tell.
    if (connection?.inTransaction !== false) return ask();
    let state: State;
    try {
      state = this.stateOf(connection);
    } catch (error) {
      return ask(isLock(error) ? error : undefined);
    }
    if (this.kept && state.isTable && isSame(this.kept.state, state)) return this.kept.answer;
    // Under what was so before it is asked: what another process writes meanwhile counts as later.
    const answer = ask();
    this.kept = { state, answer };
    return answer;
  }

  private stateOf(connection: SqliteConnection): State {
    const { schemaVersion, temporary, foreignWrites, ownWrites, tables } = signsOf(connection);
    const schema = `${String(schemaVersion.get())} ${String(temporary.get())}`;
    const last = this.kept?.state;
    const isTable =
      last?.connection === connection && last.schema === schema ? last.isTable : tables.get(this.table) !== undefined;
    return { connection, schema, isTable, foreign: foreignWrites.get(), own: ownWrites.get() };
  }
}

interface Signs {
  /** Another one when a table was made, dropped or altered. */
  readonly schemaVersion: SqliteStatement;
  /** The same of temporary tables and views, which stand before all others. */
  readonly temporary: SqliteStatement;
  /** Another one when another connection has committed. */
  readonly foreignWrites: SqliteStatement;
  /** How many rows this connection has written, triggers and cascades included. */
  readonly ownWrites: SqliteStatement;
  readonly tables: SqliteStatement;
}

const known = new WeakMap<SqliteConnection, Signs>();

function signsOf(connection: SqliteConnection): Signs {
  const found = known.get(connection);
  if (found) return found;
  const signs = {
    schemaVersion: connection.prepare('PRAGMA schema_version').pluck(),
    temporary: connection.prepare('PRAGMA temp.schema_version').pluck(),
    foreignWrites: connection.prepare('PRAGMA data_version').pluck(),
    ownWrites: connection.prepare('SELECT total_changes()').pluck(),
    tables: connection.prepare(
      `SELECT 1 FROM main.sqlite_master AS own WHERE type = 'table' AND rootpage > 0 AND name = ? COLLATE NOCASE
        AND NOT EXISTS (SELECT 1 FROM temp.sqlite_master WHERE name = own.name COLLATE NOCASE)`,
    ),
  };
  known.set(connection, signs);
  return signs;
}
