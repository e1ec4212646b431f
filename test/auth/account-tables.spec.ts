/** The tables of accounts in a database without them. In a file of its own: TypeORM's entities belong to the process. */
import type { AuthOptions } from 'declarest';
import { createDatabase } from '../harness/databases.js';
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
  expect(((await start({ passwordReset: true })).error as Error).message).toContain('declarest_one_time_token');
  expect(((await start({ throttle: { storage: 'database' } })).error as Error).message).toContain(
    'declarest_throttle_count',
  );
  await drop();
});
