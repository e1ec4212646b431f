/** The tables of accounts in a database without them. In a file of its own: TypeORM's entities belong to the process. */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import type { AuthOptions } from 'declarest';
import { createDatabase, DATABASES } from '../harness/databases.js';
import { bootAuth, startAuth } from './auth-app.js';

const SENTENCE = /^[^\n]+ must be [^\n]+, got [^\n]+\. [A-Z][^\n]{10,}\.$/;

it('tables that the database lacks are named at startup, with the migration', async () => {
  const { options, drop } = await createDatabase();
  const first = await startAuth('express', { dataSource: options as never });
  await first.close();
  const start = (auth: Partial<AuthOptions>) =>
    bootAuth('express', { auth, dataSource: { ...options, synchronize: false } as never });
  expect((await start({})).error).toBeUndefined();
  const { message } = (await start({ sessions: true })).error as Error;
  expect(message).toMatch(SENTENCE);
  expect(message).toContain('`sessions` must be used with the table declarest_auth_session of AuthSession');
  expect(message).toContain('migration:generate');
  expect(((await start({ passwordReset: true })).error as Error).message).toContain('declarest_account_token');
  expect(((await start({ throttle: { storage: 'database' } })).error as Error).message).toContain(
    'declarest_throttle_count',
  );
  await drop();
});

if (DATABASES.includes('sqlite'))
  it('[1] an encrypted file whose key is wrong is named at startup', async () => {
    const { options, drop } = await createDatabase('sqlite');
    // What is encrypted by another key looks like this.
    await writeFile((options as { database: string }).database, randomBytes(8_192));
    const dataSource = { ...options, synchronize: false, prepareDatabase: undefined } as never;
    const { error } = await bootAuth('express', { auth: { sessions: true }, dataSource });
    expect((error as Error).message).toBe(
      'The file of the data source must be a database that its key opens, got one that SQLite says is no database. ' +
        'Correct the key of the encrypted file, or the path.',
    );
    await drop();
  });
