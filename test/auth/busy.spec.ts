import { availableParallelism } from 'node:os';
import { jest } from '@jest/globals';
import bcrypt from 'bcrypt';
import { UserAccounts } from 'declarest';
import { hashingQueue, hashConcurrency } from '../../lib/auth/passwords.js';
import { PLATFORMS } from '../harness/platforms.js';
import { type AuthApp, expectFailure, PASSWORD, startAuth, uniqueEmail, whole } from './auth-app.js';

const LOGIN = '/api/auth/login';
const ROOM = 1_000;
const AT_ONCE = hashConcurrency(availableParallelism(), process.env['UV_THREADPOOL_SIZE']);

/** Takes every place of the process's queue, those that run and those that wait, until it is told to leave. */
function takeAllPlaces(): () => Promise<void> {
  let end!: () => void;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const jobs = Array.from({ length: AT_ONCE + ROOM }, () => hashingQueue.run(() => ended));
  return async () => {
    end();
    await Promise.all(jobs);
  };
}

describe.each(PLATFORMS)('on %s', (platform) => {
  let app: AuthApp;
  let leave: () => Promise<void> = async () => undefined;
  beforeAll(async () => {
    app = await startAuth(platform);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await leave();
  });
  afterAll(() => app.close());
  const login = (email: string, password = PASSWORD) => app.post(LOGIN, { email, password });

  it('[2.4] 1,000 parallel logins and more are all answered, each as if it were alone', async () => {
    const email = uniqueEmail();
    await app.register({ email });
    const state = { running: 0, most: 0 };
    const compare = bcrypt.compare.bind(bcrypt) as (password: string, hash: string) => Promise<boolean>;
    jest.spyOn(bcrypt, 'compare').mockImplementation((async (password: string, hash: string) => {
      state.running += 1;
      state.most = Math.max(state.most, state.running);
      const equal = await compare(password, hash);
      state.running -= 1;
      return equal;
    }) as never);
    const kinds = [
      () => login(email),
      () => login(email, 'not the password'),
      () => login('nobody@example.com'),
    ] as const;
    const answers = await Promise.all(Array.from({ length: ROOM + AT_ONCE }, (_, n) => kinds[n % 3]!()));
    expect(answers.map(({ status }) => status)).toEqual(answers.map((_, n) => (n % 3 === 0 ? 200 : 401)));
    expect(state).toEqual({ running: 0, most: AT_ONCE });
  });

  it('[2.4] without a place to wait in all get the same 503 with Retry-After at once, known or not', async () => {
    const [email, idle] = [uniqueEmail(), uniqueEmail()];
    const { token } = await app.register({ email });
    const { user } = await app.register({ email: idle });
    await app.app.get(UserAccounts, { strict: false }).setActive(user['id'] as number, false);
    leave = takeAllPlaces();
    const compare = jest.spyOn(bcrypt, 'compare');

    const answer = await login(email);
    expectFailure(answer, 503);
    expect(answer.headers['retry-after']).toBe('30');
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    for (const other of [
      await login(email, 'not the password'),
      await login(email, 'x'.repeat(73)),
      await login('nobody@example.com'),
      await login('no address'),
      await login(idle),
    ])
      expect(whole(other)).toEqual(whole(answer));
    expect(compare).not.toHaveBeenCalled();

    // What needs no hash goes on.
    expectFailure(await app.post(LOGIN, { email }));
    expect((await app.get('/api/auth/me', { token })).status).toBe(200);
    expect((await app.get('/who')).status).toBe(200);

    await leave();
    expect((await login(email)).status).toBe(200);
    expect((await login('nobody@example.com')).status).toBe(401);
  });

  it('[2.4] without a place to wait in nobody registers, and the address is free afterwards', async () => {
    const body = { email: uniqueEmail(), password: PASSWORD };
    leave = takeAllPlaces();
    const answer = await app.post('/api/auth/register', body);
    expectFailure(answer, 503);
    expect(answer.headers['retry-after']).toBe('30');
    expectFailure(await app.post('/api/auth/register', { ...body, password: 'short' }));
    expect(await app.users().countBy({ email: body.email })).toBe(0);
    await leave();
    expect((await app.post('/api/auth/register', body)).status).toBe(201);
  });

  it("[2.4] the application's own code is told in the same way", async () => {
    const accounts = app.app.get(UserAccounts, { strict: false });
    const { user } = await app.register({ email: uniqueEmail() });
    leave = takeAllPlaces();
    const busy = { status: 503, message: 'The server is busy, try again' };
    await expect(accounts.create({ email: uniqueEmail(), password: PASSWORD })).rejects.toMatchObject(busy);
    await expect(accounts.setPassword(user['id'] as number, 'another password')).rejects.toMatchObject(busy);
    await leave();
    await expect(accounts.setPassword(user['id'] as number, 'another password')).resolves.toBeDefined();
  });

  it('[2.4] a login that waits is answered when its turn comes', async () => {
    const other = await startAuth(platform);
    const email = uniqueEmail();
    await other.register({ email });
    let end!: () => void;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const jobs = Array.from({ length: AT_ONCE }, () => hashingQueue.run(() => ended));
    leave = async () => {
      end();
      await Promise.all(jobs);
    };
    const compare = jest.spyOn(bcrypt, 'compare');
    const waiting = other.post(LOGIN, { email, password: PASSWORD });
    // Whatever order they arrive in: this one needs no hash.
    for (let n = 0; n < 20; n += 1) expect((await other.get('/who')).status).toBe(200);
    expect(compare).not.toHaveBeenCalled();
    await leave();
    expect((await waiting).status).toBe(200);
    await other.close();
  });
});
