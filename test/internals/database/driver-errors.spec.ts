/** What the errors of drivers mean that no server here throws, as the drivers bring them. */
import { QueryFailedError, QueryRunnerAlreadyReleasedError } from 'typeorm';
import { databaseFailureOf, isLostRace } from '../../../lib/entities/database-errors.js';

const errorOf = (message: string, members: object = {}): Error => Object.assign(new Error(message), members);
const failed = (message: string, members: object = {}): QueryFailedError =>
  new QueryFailedError('SELECT 1', [], errorOf(message, members));

const mysql = (errno: number, code: string, sqlState: string, message: string): QueryFailedError =>
  failed(message, { errno, code, sqlState, sqlMessage: message });
const postgres = (severity: string, code: string, message: string): QueryFailedError =>
  failed(message, { severity, code });

const LOST: readonly (readonly [string, Error])[] = [
  ['a runner that has lost its connection', new QueryRunnerAlreadyReleasedError()],
  ['pgpool without its node', postgres('FATAL', 'XX000', 'unable to read data from DB node 0')],
  ['pgpool without a backend', postgres('FATAL', 'XX000', 'failed to create a backend connection')],
  ['a server that ends in panic', postgres('PANIC', 'XX001', 'could not write to file')],
  ['a plan that is older than the table', postgres('ERROR', '0A000', 'cached plan must not change result type')],
  ['a view without content', postgres('ERROR', '55000', 'materialized view "sales" has not been populated')],
  [
    'a Galera node that is not ready',
    mysql(1047, 'ER_UNKNOWN_COM_ERROR', '08S01', 'WSREP has not yet prepared node for application use'),
  ],
  [
    'a Galera node without a quorum',
    mysql(
      1105,
      'ER_UNKNOWN_ERROR',
      'HY000',
      'Error while appending streaming replication fragment(provider status: Not connected to Primary Component)',
    ),
  ],
  ['MySQL in offline mode', mysql(3032, 'ER_SERVER_OFFLINE_MODE', 'HY000', 'The server is currently in offline mode')],
  ['a session that was killed', mysql(3169, 'ER_SESSION_WAS_KILLED', 'HY000', 'The session was killed')],
  [
    'a session that was idle too long',
    mysql(4031, 'ER_CLIENT_INTERACTION_TIMEOUT', 'HY000', 'The client was disconnected by the server'),
  ],
  [
    'group replication that rolls back',
    mysql(3101, 'ER_TRANSACTION_ROLLBACK_DURING_COMMIT', '40000', 'Plugin instructed the server to rollback'),
  ],
  ['a cluster of mysql2 without its node', errorOf('Pool does Not exist.', { code: 'POOL_NOEXIST' })],
  [
    'a cluster of mysql2 whose node is offline',
    errorOf('Pool does Not have online node.', { code: 'POOL_NONEONLINE' }),
  ],
  ['a file of sql.js that cannot be written', errorOf('Could not save database, error: Error: ENOENT')],
];

const node = (errcode: number, message: string): QueryFailedError =>
  failed(message, { code: 'ERR_SQLITE_ERROR', errcode });
const turso = (message: string): QueryFailedError => failed(message, { code: 'GenericFailure' });

const SQLITE: readonly (readonly [string, string | undefined, Error])[] = [
  ['sql.js', 'conflict', failed('UNIQUE constraint failed: category.name')],
  ['sql.js', 'conflict', failed('FOREIGN KEY constraint failed')],
  ['sql.js', 'invalid', failed('NOT NULL constraint failed: category.name')],
  ['sql.js', 'invalid', failed('CHECK constraint failed: price > 0')],
  ['node:sqlite', 'conflict', node(2067, 'UNIQUE constraint failed: category.name')],
  ['node:sqlite', 'conflict', node(1811, 'the text of a trigger')],
  ['node:sqlite', 'invalid', node(3091, 'cannot store TEXT value in INT column t.a')],
  ['node:sqlite', 'invalid', node(20, 'datatype mismatch')],
  ['node:sqlite', 'invalid', node(18, 'string or blob too big')],
  ['node:sqlite', 'unavailable', node(5, 'database is locked')],
  ['node:sqlite', 'unavailable', node(6, 'database table is locked: category')],
  ['node:sqlite', 'unavailable', node(13, 'database or disk is full')],
  ['node:sqlite', 'unavailable', node(8, 'attempt to write a readonly database')],
  [
    'sqlite3',
    'conflict',
    failed('SQLITE_CONSTRAINT: UNIQUE constraint failed: category.name', { errno: 19, code: 'SQLITE_CONSTRAINT' }),
  ],
  ['turso', 'conflict', turso('step failed: Runtime error: UNIQUE constraint failed: category.name (19)')],
  ['turso', 'conflict', turso('step failed: Runtime error: immediate foreign key constraint failed')],
  ['turso', 'invalid', turso('step failed: Runtime error: CHECK constraint failed: price > 0 (19)')],
  ['turso', 'unavailable', turso('step failed: Database is full: database or disk is full')],
  ['none of them', undefined, node(1, 'no such table: category')],
];

const QUOTING: readonly (readonly [string, Error])[] = [
  ['PostgreSQL', postgres('ERROR', '22P02', 'invalid input syntax for type integer: "UNIQUE constraint failed: a"')],
  ['MySQL', mysql(1366, 'ER_TRUNCATED_WRONG_VALUE', '22007', "Incorrect value: 'FOREIGN KEY constraint failed'")],
];

describe('errors of drivers', () => {
  it.each(LOST)('[4.3] are the failure of a database that is away: %s', (_, error) => {
    expect(databaseFailureOf(error)).toBe('unavailable');
  });

  it.each(SQLITE)("[4.3] are read by SQLite's own messages and codes: %s, %s", (_, failure, error) => {
    expect(databaseFailureOf(error)).toBe(failure);
  });

  it('[4.3] are a lost race where a file has changed since the transaction has read it, and no locked file', () => {
    expect(isLostRace(failed('database is locked', { code: 'SQLITE_BUSY_SNAPSHOT' }))).toBe(true);
    expect(isLostRace(node(517, 'database is locked'))).toBe(true);
    expect(isLostRace(node(5, 'database is locked'))).toBe(false);
  });

  it.each(QUOTING)('[4.3] are not read by the values that they quote: %s', (_, error) => {
    expect(databaseFailureOf(error)).toBe('invalid');
  });

  it('[4.3] are about a value that is too long, although the server ends the connection', () => {
    const error = mysql(
      1153,
      'ER_NET_PACKET_TOO_LARGE',
      '08S01',
      "Got a packet bigger than 'max_allowed_packet' bytes",
    );
    expect(databaseFailureOf(error)).toBe('invalid');
  });
});

it.each(['53300', '57P04', '08006', '57P01'])('[4.3] a connection that PostgreSQL refuses with %s is 503', (code) => {
  expect(databaseFailureOf(Object.assign(new Error('refused'), { code }))).toBe('unavailable');
});
