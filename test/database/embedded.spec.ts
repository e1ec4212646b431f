/** What stops the start, or is a warning, where SQLite is not itself. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Entity, PrimaryGeneratedColumn } from 'typeorm';
import { bootAuth } from '../auth/auth-app.js';
import { type CrudParts, crudError, startCrud } from '../crud/service.js';
import { linesOf } from '../harness/platforms.js';

@Entity()
class Item {
  @PrimaryGeneratedColumn() id!: number;
}

const partsOf = (dataSource: object): CrudParts => ({
  database: 'sqlite',
  entities: [Item],
  resources: [{ entity: Item, endpoint: '/items', maxListSize: 9 }],
  dataSource,
});

interface Database {
  function(name: string, options: object, answer: () => string): void;
}
const Better = createRequire(import.meta.url)('better-sqlite3') as new (file: string, options: object) => Database;

/** A driver in which a function of SQL answers as that of another engine. */
const driverWith = (name: string, value: string): object => ({
  driver: class extends Better {
    constructor(file: string, options: object) {
      super(file, options);
      this.function(name, { varargs: true }, () => value);
    }
  },
});

describe('the start on SQLite', () => {
  let folder: string;
  let encrypted: object;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'declarest-'));
    const database = join(folder, 'encrypted.db');
    // What is encrypted by another key looks like this.
    await writeFile(database, randomBytes(8_192));
    encrypted = { database, synchronize: false, prepareDatabase: undefined };
  });
  afterAll(() => rm(folder, { recursive: true }));

  const WRONG_KEY =
    'The file of the data source must be a database that its key opens, got another. ' +
    'SQLite says "file is not a database": correct the key of the encrypted file, or the path.';

  it('[1] names an encrypted file whose key is wrong, with resources', async () => {
    expect((await crudError('express', partsOf(encrypted))).message).toBe(WRONG_KEY);
  });

  it.each([{}, { sessions: true }])('[1] names such a file, with AuthModule and %j', async (auth) => {
    const type = 'better-sqlite3';
    const { error } = await bootAuth('express', { auth, dataSource: { type, ...encrypted } as never });
    expect((error as Error).message).toBe(WRONG_KEY);
  });

  it('[4.6] stops with a driver that cuts texts, as libsql does', async () => {
    const driver = driverWith('char', '');
    expect((await crudError('express', partsOf(driver))).message).toBe(
      'The driver of the data source must be one that reads whole texts, got one that cuts them at the character NUL. ' +
        'Use better-sqlite3: PUT of what GET answers would store a shorter text.',
    );
  });

  it('[1] warns of an engine that is not the SQLite of sqlite.org, as that of turso', async () => {
    const driver = driverWith('sqlite_source_id', '2026-07-30 unknown');
    const { logs, close } = await startCrud('express', partsOf(driver));
    await close();
    expect(linesOf(logs, 'warn').filter((line) => line.includes('of the data source'))).toEqual([
      expect.stringContaining(
        'sqlite_source_id() of the data source must be that of a release of SQLite, got 2026-07-30 unknown. ' +
          'Use better-sqlite3: declarest is not tested with this engine.',
      ),
    ]);
  });
});
