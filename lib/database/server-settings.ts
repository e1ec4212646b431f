/** Finds settings of drivers and servers that wait for ever, that let values change or become SQL, or that lose writes. */
import { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { isSqlite } from '../entities/database-family.js';
import { InvalidOptionError, isProduction } from '../options/invalid-option.js';

/** The variables of the session. A server has only those that it knows. */
const POSTGRES_VARIABLES = `SELECT name AS "Variable_name", setting AS "Value" FROM pg_settings WHERE name LIKE '%_timeout'
  UNION ALL SELECT 'version', version()`;
const MYSQL_VARIABLES = `SHOW SESSION VARIABLES WHERE Variable_name LIKE '%_timeout' OR Variable_name LIKE 'max_%_time'
  OR Variable_name LIKE 'character_set_%' OR Variable_name LIKE 'wsrep_%' OR Variable_name = 'sql_mode'`;
/** The last row reads the file. */
const SQLITE_VARIABLES = `SELECT 'source' AS "Variable_name", sqlite_source_id() AS "Value" UNION ALL SELECT 'text', 'a' || char(0)
  UNION ALL SELECT 'tables', COUNT(*) FROM sqlite_master`;
const WRONG_KEY = 'SQLite says "file is not a database": correct the key of the encrypted file, or the path';

/** Defaults that count as no limit, as 0 does: they are longer than a request may take. */
const TOO_LONG: Readonly<Record<string, number>> = { innodb_lock_wait_timeout: 50, lock_wait_timeout: 3600 };

/** The limits of a server, and the lines that set them. Only the end of its socket frees what waits for lost packets. */
const POSTGRES = [
  ['connectionTimeoutMillis', 'statement_timeout', 'lock_timeout', 'stream'],
  `extra: { connectionTimeoutMillis: 5_000, statement_timeout: 10_000, lock_timeout: 1_000, stream: () => { ` +
    `const socket = new net.Socket(); return socket.setTimeout(15_000, () => socket.destroy()); }, ` +
    `onConnect: (client) => void client.on('error', () => undefined) }`,
] as const;
const mysqlLimits = (names: string, settings: string) =>
  [
    ['queueLimit', 'innodb_lock_wait_timeout', ...names.split(' '), 'stream'],
    `extra: { queueLimit: 100, connectTimeout: 5_000, stream: ({ config: { port, host } }) => { ` +
      `const socket = net.connect({ port, host, noDelay: true, keepAlive: true }); ` +
      `return socket.setTimeout(15_000, () => socket.destroy()); } }, ` +
      `driver: { ...mysql2, createPool: (options) => mysql2.createPool(options).on('connection', ` +
      `(connection) => connection.query('SET SESSION innodb_lock_wait_timeout = 1, ${settings}')) }`,
  ] as const;
const MARIADB = mysqlLimits('max_statement_time', 'max_statement_time = 10');
const MYSQL = mysqlLimits('lock_wait_timeout max_execution_time', 'lock_wait_timeout = 10, max_execution_time = 10000');

/**
 * Logs what is missing, and how to add it.
 * @returns whether the server is a node of a Galera cluster
 * @throws InvalidOptionError with `strict` in production, and for unsafe modes
 */
export async function checkLimits(dataSource: DataSource, isStrict: boolean): Promise<boolean> {
  const { type, extra, connectTimeoutMS, ...options } = dataSource.options as object as Settings & { extra?: object };
  const isServer = type === 'postgres' || type === 'mariadb' || type === 'mysql';
  if (!isServer && !isSqlite(dataSource)) return false;
  const sql = type === 'postgres' ? POSTGRES_VARIABLES : isServer ? MYSQL_VARIABLES : SQLITE_VARIABLES;
  const rows = await dataSource.query<{ Variable_name: string; Value: string }[]>(sql).catch((cause: unknown) => {
    if (!/file is not a database/.test(String(cause))) throw cause;
    throw new InvalidOptionError('The file of the data source', 'a database that its key opens', 'another', WRONG_KEY);
  });
  const variables = Object.fromEntries(rows.map(({ Variable_name, Value }) => [Variable_name, Value]));
  const values: Record<string, unknown> = { connectionTimeoutMillis: connectTimeoutMS, ...extra, ...variables };
  checkModes(variables, { type, ...options, ...extra }, isStrict);
  if (!isServer) return false;
  const isCluster = variables['wsrep_on'] === 'ON';
  const [names, lines] = type === 'postgres' ? POSTGRES : 'max_statement_time' in values ? MARIADB : MYSQL;
  const isSet = (value: unknown, end = Infinity): boolean => !!value && !(Number(value) <= 0 || Number(value) >= end);
  const missing = names.filter((name) => !isSet(values[name], TOO_LONG[name]));
  if (missing.length === 0) return isCluster;
  const got = `no ${missing.join(', ')}`;
  const advice = `One locked row can stop all requests. Add to the options of TypeORM: ${lines}`;
  if (isStrict && isProduction())
    throw new InvalidOptionError('The data source', 'limited with `strict` in production', got, advice);
  new Logger('declarest').warn(`The data source waits without a limit, because it has ${got}. ${advice}`);
  return isCluster;
}

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

const MYSQL_RULES: readonly Rule[] = [
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
const EMBEDDED_RULES: readonly Rule[] = [
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
  for (const { path, expected, advice, wrong, always } of 'sql_mode' in variables ? MYSQL_RULES : EMBEDDED_RULES) {
    const got = wrong(variables, options);
    if (got === undefined) continue;
    const error = new InvalidOptionError(path, expected, String(got), advice);
    const isStopped = always === 'in production' ? isProduction() : always !== 'warned';
    if (always === 'refused' || (isStrict && isStopped)) throw error;
    new Logger('declarest').warn(error.message);
  }
}
