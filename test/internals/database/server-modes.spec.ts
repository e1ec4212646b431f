/** Modes of MySQL and MariaDB, and options of mysql2, that let values change or become SQL. Engines for development. */
import { AuthModule } from 'declarest';
import mysql2, { type PoolOptions } from 'mysql2';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { checkModes } from '../../../lib/database/server-settings.js';
import { AUTH } from '../../auth/auth-app.js';
import { type CrudParts, crudError, startCrud } from '../../crud/service.js';
import { DATABASES, IS_MYSQL } from '../../harness/databases.js';
import { linesOf } from '../../harness/platforms.js';
import { User } from '../../harness/shop.js';

@Entity()
class Item {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 30 })
  name!: string;
}

const MESSAGES = {
  escapes:
    'The sql_mode of the data source must be without NO_BACKSLASH_ESCAPES, got NO_BACKSLASH_ESCAPES,STRICT_TRANS_TABLES. ' +
    'Remove it on the server: mysql2 escapes by backslash, so texts of clients would run as SQL.',
  strict:
    'The sql_mode of the data source must be strict, got ANSI_QUOTES. ' +
    'Add STRICT_TRANS_TABLES on the server: without it, values that do not fit are cut or replaced.',
  characters:
    'The character set of the data source must be utf8mb4, got latin1. ' +
    "Set `charset: 'utf8mb4'` in the options of TypeORM: other texts are stored with wrong characters.",
  flags:
    'The flags of the data source must be without -FOUND_ROWS, got -FOUND_ROWS. ' +
    'Remove it: a record that a write leaves as it is would count as one that is not there.',
};

const partsOf = (dataSource: object, strict = false): CrudParts => ({
  database: 'mariadb',
  entities: [Item, User],
  resources: [{ entity: Item, endpoint: '/api/items', maxListSize: 9 }],
  imports: [AuthModule.forRoot({ ...AUTH, defaultAccess: 'public', strict })],
  dataSource,
});

/** A data source whose connections have a mode of their own. */
const withMode = (mode: string): object => ({
  driver: {
    ...mysql2,
    createPool: (options: PoolOptions) =>
      mysql2.createPool(options).on('connection', (connection) => {
        const limit = IS_MYSQL ? 'lock_wait_timeout = 60, max_execution_time = 60000' : 'max_statement_time = 60';
        connection.query(`SET SESSION ${limit}, innodb_lock_wait_timeout = 45, sql_mode = ?`, [mode]);
      }),
  },
});

async function warningsWith(dataSource: object): Promise<string[]> {
  const service = await startCrud('fastify', partsOf(dataSource));
  await service.close();
  return linesOf(service.logs, 'warn').filter((line) => line.includes('of the data source must be'));
}

if (DATABASES.includes('mariadb'))
  describe('the mode of a MariaDB server', () => {
    it.each([false, true])('[4.6] with NO_BACKSLASH_ESCAPES refuses to start, with strict: %s', async (strict) => {
      const parts = partsOf(withMode('STRICT_TRANS_TABLES,NO_BACKSLASH_ESCAPES'), strict);
      expect((await crudError('fastify', parts)).message).toBe(MESSAGES.escapes);
    });

    it.each([
      ['strict', withMode('ANSI_QUOTES'), MESSAGES.strict],
      ['with a character set of Unicode', { charset: 'latin1' }, MESSAGES.characters],
    ])('[4.6] that is not %s is a warning, and refuses to start with strict', async (_, dataSource, message) => {
      expect(await warningsWith(dataSource)).toEqual([expect.stringContaining(message)]);
      expect((await crudError('fastify', partsOf(dataSource, true))).message).toBe(message);
    });

    it('[4.6] without counts of found rows refuses to start', async () => {
      const parts = partsOf({ flags: ['-FOUND_ROWS'] });
      expect((await crudError('fastify', parts)).message).toBe(MESSAGES.flags);
    });

    it('[4.6] as it is by default is no warning', async () => {
      expect(await warningsWith({})).toEqual([]);
    });
  });

describe('variables of a Galera node', () => {
  const MODES = {
    sql_mode: 'STRICT_TRANS_TABLES',
    character_set_client: 'utf8mb4',
    character_set_connection: 'utf8mb4',
    character_set_results: 'utf8mb4',
  };

  it('[4.6] must let reads wait for what other nodes have committed', () => {
    expect(() => checkModes({ ...MODES, wsrep_on: 'ON', wsrep_sync_wait: '0' }, {}, true)).toThrow(
      'wsrep_sync_wait of the data source must be at least 1 on a Galera cluster, got 0. Set it on the server, ',
    );
    checkModes({ ...MODES, wsrep_on: 'ON', wsrep_sync_wait: '7' }, {}, true);
    checkModes({ ...MODES, wsrep_on: 'OFF', wsrep_sync_wait: '0' }, {}, true);
  });
});

describe('engines for development', () => {
  const before = process.env['NODE_ENV'];
  afterEach(() => {
    process.env['NODE_ENV'] = before;
  });

  it.each([
    ['sql.js', { text: 'a\0' }, 'sqljs'],
    ['PGlite', { version: 'PostgreSQL 18.7 (PGlite 0.5.17) on wasm32-unknown-emscripten' }, 'postgres'],
  ])('[1] stop the start in production with strict: %s', (name, variables, type) => {
    const message = `The database of the data source must be one for production, got ${name}. Use it for development only: `;
    process.env['NODE_ENV'] = 'production';
    expect(() => checkModes(variables, { type }, true)).toThrow(message);
    expect(() => checkModes(variables, { type }, false)).not.toThrow();
    process.env['NODE_ENV'] = 'test';
    expect(() => checkModes(variables, { type }, true)).not.toThrow();
  });
});
