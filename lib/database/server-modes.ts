/** Finds settings of MySQL, MariaDB and mysql2 that let values change or become SQL, and embedded engines that lose them. */
import { Logger } from '@nestjs/common';
import { InvalidOptionError, isProduction } from '../options/invalid-option.js';

type Settings = Readonly<Record<string, unknown>>;

interface Rule {
  readonly path: string;
  readonly expected: string;
  readonly advice: string;
  /** @returns what is wrong, if something is */
  readonly wrong: (variables: Settings, options: Settings) => unknown;
  /** Whether it stops every start, or only warns with `strict` too. Others stop the start with `strict` (in production). */
  readonly always?: 'refused' | 'warned' | 'in production';
}

const unless = (isRight: boolean, value: unknown): unknown => (isRight ? undefined : value);
const CHARACTER_SETS = ['character_set_client', 'character_set_connection', 'character_set_results'];

const OF_MYSQL: readonly Rule[] = [
  {
    path: 'The sql_mode of the data source',
    expected: 'without NO_BACKSLASH_ESCAPES',
    advice: 'Remove it on the server: mysql2 escapes by backslash, so texts of clients would run as SQL',
    wrong: ({ sql_mode: mode }) => unless(!/\bNO_BACKSLASH_ESCAPES\b/.test(String(mode)), mode),
    always: 'refused',
  },
  {
    path: 'The flags of the data source',
    expected: 'without -FOUND_ROWS',
    advice: 'Remove it: a record that a write leaves as it is would count as one that is not there',
    wrong: (_, { flags }) => unless(!/-FOUND_ROWS\b/i.test(String(flags)), flags),
    always: 'refused',
  },
  {
    path: 'The sql_mode of the data source',
    expected: 'strict',
    advice: 'Add STRICT_TRANS_TABLES on the server: without it, values that do not fit are cut or replaced',
    wrong: ({ sql_mode: mode }) => unless(/\bSTRICT_(TRANS|ALL)_TABLES\b/.test(String(mode)), mode || 'none'),
  },
  {
    path: 'The character set of the data source',
    expected: 'utf8mb4',
    advice: "Set `charset: 'utf8mb4'` in the options of TypeORM: other texts are stored with wrong characters",
    wrong: (variables) => CHARACTER_SETS.map((name) => variables[name]).find((each) => each !== 'utf8mb4'),
  },
  {
    path: 'wsrep_sync_wait of the data source',
    expected: 'at least 1 on a Galera cluster',
    advice:
      'Set it on the server, or by `SET SESSION wsrep_sync_wait = 1` for each connection: a node that is behind shows ' +
      'clients less than they have written, and ended sessions as open',
    wrong: ({ wsrep_on, wsrep_sync_wait: waits }) => unless(wsrep_on !== 'ON' || Number(waits) % 2 === 1, waits),
  },
  {
    path: '`replication` of the data source',
    expected: 'with `restoreNodeTimeout`',
    advice:
      'Add to `replication`: restoreNodeTimeout: 1_000. Without it, mysql2 removes a server after five errors for ever, ' +
      'and may end the process',
    wrong: (_, { replication }) => {
      const { restoreNodeTimeout, removeNodeErrorCount } = (replication ?? {}) as Settings;
      const isSet = Number(restoreNodeTimeout) > 0 || Number(removeNodeErrorCount) >= 1_000;
      return unless(replication === undefined || isSet, 'none');
    },
    always: 'warned',
  },
];

/** What better-sqlite3, its variant with encryption and node:sqlite do right. A server has none of the variables. */
const EMBEDDED: readonly Rule[] = [
  {
    path: 'The driver of the data source',
    expected: 'one that reads whole texts',
    advice: 'Use better-sqlite3: PUT of what GET answers would store a shorter text',
    wrong: ({ text = 'a\0' }) => unless(text === 'a\0', 'one that cuts them at the character NUL'),
    always: 'refused',
  },
  {
    path: 'sqlite_source_id() of the data source',
    expected: 'that of a release of SQLite',
    advice: 'Use better-sqlite3: declarest is not tested with this engine',
    // Changed sources end with "alt1" or the like (sqlite.org).
    wrong: ({ source: id = '0'.repeat(64) }) => unless(/\b[0-9a-f]{64}$/.test(String(id)), id),
    always: 'warned',
  },
  {
    path: 'The database of the data source',
    expected: 'one for production',
    advice: 'Use it for development only: acknowledged writes may be lost',
    wrong: ({ version }, { type }) =>
      type === 'sqljs' ? 'sql.js' : unless(!/\bPGlite\b/.test(String(version)), 'PGlite'),
    always: 'in production',
  },
];

/** Logs what is wrong. @throws InvalidOptionError for what is not safe, and for most others with `strict` */
export function checkModes(variables: Settings, options: Settings, isStrict: boolean): void {
  for (const { path, expected, advice, wrong, always } of 'sql_mode' in variables ? OF_MYSQL : EMBEDDED) {
    const got = wrong(variables, options);
    if (got === undefined) continue;
    const error = new InvalidOptionError(path, expected, String(got), advice);
    const isStopped = always === 'in production' ? isProduction() : always !== 'warned';
    if (always === 'refused' || (isStrict && isStopped)) throw error;
    new Logger('declarest').warn(error.message);
  }
}
