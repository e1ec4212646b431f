/** Finds drivers that wait for ever: with them, a locked row or a network that drops packets stops all requests. */
import { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { isSqlite } from '../entities/database-family.js';
import { InvalidOptionError, isProduction } from '../options/invalid-option.js';
import { checkModes } from './server-modes.js';

/** The variables of the session. A server has only those that it knows. */
const OF_POSTGRES = `SELECT name AS "Variable_name", setting AS "Value" FROM pg_settings WHERE name LIKE '%_timeout'
  UNION ALL SELECT 'version', version()`;
const OF_MYSQL = `SHOW SESSION VARIABLES WHERE Variable_name LIKE '%_timeout' OR Variable_name LIKE 'max_%_time'
  OR Variable_name LIKE 'character_set_%' OR Variable_name LIKE 'wsrep_%' OR Variable_name = 'sql_mode'`;
/** The last row reads the file. */
const OF_SQLITE = `SELECT 'source' AS "Variable_name", sqlite_source_id() AS "Value" UNION ALL SELECT 'text', 'a' || char(0)
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
const ofMysql2 = (names: string, settings: string) =>
  [
    ['queueLimit', 'innodb_lock_wait_timeout', ...names.split(' '), 'stream'],
    `extra: { queueLimit: 100, connectTimeout: 5_000, stream: ({ config: { port, host } }) => { ` +
      `const socket = net.connect({ port, host, noDelay: true, keepAlive: true }); ` +
      `return socket.setTimeout(15_000, () => socket.destroy()); } }, ` +
      `driver: { ...mysql2, createPool: (options) => mysql2.createPool(options).on('connection', ` +
      `(connection) => connection.query('SET SESSION innodb_lock_wait_timeout = 1, ${settings}')) }`,
  ] as const;
const MARIADB = ofMysql2('max_statement_time', 'max_statement_time = 10');
const MYSQL = ofMysql2('lock_wait_timeout max_execution_time', 'lock_wait_timeout = 10, max_execution_time = 10000');

/**
 * Logs what is missing, and how to add it.
 * @returns whether the server is a node of a Galera cluster
 * @throws InvalidOptionError with `strict` in production, and for unsafe modes
 */
export async function checkLimits(dataSource: DataSource, isStrict: boolean): Promise<boolean> {
  type Options = Readonly<Record<string, unknown>> & { extra?: object };
  const { type, extra, connectTimeoutMS, ...options } = dataSource.options as object as Options;
  const isServer = type === 'postgres' || type === 'mariadb' || type === 'mysql';
  if (!isServer && !isSqlite(dataSource)) return false;
  const sql = type === 'postgres' ? OF_POSTGRES : isServer ? OF_MYSQL : OF_SQLITE;
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
