import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import bcrypt from 'bcrypt';
import { UserAccounts } from 'declarest';
import { hashConcurrency, hashingQueue } from '../../../lib/auth/passwords/passwords.js';
import { Semaphore, type Waiting } from '../../../lib/database/semaphore.js';
import { ServiceUnavailable } from '../../../lib/http/failure.js';
import { ONE_PLATFORM } from '../../harness/platforms.js';
import { type AuthApp, expectFailure, PASSWORD, startAuth, uniqueEmail, whole } from '../../auth/auth-app.js';

const LOGIN = '/api/auth/login';
const MAX_QUEUED = 1_000;
const CONCURRENCY = hashConcurrency(availableParallelism(), process.env['UV_THREADPOOL_SIZE']);

const refusal = () => new ServiceUnavailable('busy', 30);
const newQueue = ({
  concurrency = 1,
  ...limits
}: Partial<Waiting & { readonly concurrency: number }> = {}): Semaphore =>
  new Semaphore(concurrency, { maxWaiting: MAX_QUEUED, timeoutMs: 30_000, refusal, ...limits });

/** A task that runs until `finish` is called. */
function blockingTask(): { task: () => Promise<void>; finish: () => void } {
  let finish!: () => void;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  return { task: () => finished, finish };
}

const outcomesOf = async (jobs: Promise<unknown>[]): Promise<string[]> =>
  (await Promise.allSettled(jobs)).map((job) =>
    job.status === 'fulfilled' ? 'done' : job.reason instanceof ServiceUnavailable ? 'busy' : String(job.reason),
  );

describe('Semaphore', () => {
  it.each([1, 3])('[2.4] runs at most %d tasks concurrently, first in, first out', async (concurrency) => {
    const queue = newQueue({ concurrency });
    const started: number[] = [];
    const state = { running: 0, most: 0 };
    const run = async (n: number): Promise<void> => {
      started.push(n);
      state.running += 1;
      state.most = Math.max(state.most, state.running);
      await delay(1);
      state.running -= 1;
    };
    await Promise.all(Array.from({ length: 40 }, (_, n) => queue.run(() => run(n))));
    expect(state).toEqual({ running: 0, most: concurrency });
    expect(started).toEqual(Array.from({ length: 40 }, (_, n) => n));
  });

  it('[2.4] lets no new task overtake a waiting one while a slot changes hands', async () => {
    const queue = newQueue();
    const started: string[] = [];
    const start = (name: string) => queue.run(async () => started.push(name));
    const { task, finish } = blockingTask();
    const jobs: Promise<unknown>[] = [queue.run(task), start('waiting')];
    finish();
    for (let turn = 0; turn < 10; turn += 1) {
      await Promise.resolve();
      jobs.push(start('new'));
    }
    await Promise.all(jobs);
    expect(started).toEqual(['waiting', ...Array<string>(10).fill('new')]);
  });

  it('[2.4] returns the result or the error of a task, and continues after both', async () => {
    const queue = newQueue();
    await expect(queue.run(() => Promise.reject(new Error('no such salt')))).rejects.toThrow('no such salt');
    await expect(queue.run(async () => 7)).resolves.toBe(7);
  });

  it('[2.4] refuses a task beyond the limit at once with 503, and the waiting tasks still run', async () => {
    const queue = newQueue({ concurrency: 2 });
    const { task, finish } = blockingTask();
    const jobs = Array.from({ length: MAX_QUEUED + 2 }, () => queue.run(task));
    await expect(queue.run(task)).rejects.toMatchObject({ retryAfter: 30, status: 503 });
    finish();
    expect(new Set(await outcomesOf(jobs))).toEqual(new Set(['done']));
  });

  it('[2.4] refuses a task that waited too long, never starts it, and frees its place', async () => {
    const queue = newQueue({ maxWaiting: 2, timeoutMs: 40 });
    const { task, finish } = blockingTask();
    const running = queue.run(task);
    const started: string[] = [];
    const waiting = ['first', 'second'].map((name) => queue.run(async () => started.push(name)));
    expect(await outcomesOf([...waiting, queue.run(task)])).toEqual(['busy', 'busy', 'busy']);
    const later = queue.run(task);
    finish();
    expect([await outcomesOf([running, later]), started]).toEqual([['done', 'done'], []]);
  });

  it('[2.4] limits the time of waiting, not of running, and keeps no timer', async () => {
    const queue = newQueue({ timeoutMs: 30 });
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    const { task, finish } = blockingTask();
    const jobs = [queue.run(task), queue.run(async () => undefined)];
    // A timer that is not unref'd would keep the process alive.
    expect(timers()).toBe(before);
    finish();
    expect(await outcomesOf([...jobs, queue.run(() => delay(90))])).toEqual(['done', 'done', 'done']);
  });

  it.each<[cores: number, threads: string | undefined, concurrency: number]>([
    [1, undefined, 1],
    [2, undefined, 1],
    [16, undefined, 3],
    [16, '16', 15],
    [8, '64', 7],
    [8, '0', 1],
    [8, 'many', 1],
    [8, '-1', 1],
  ])('[2.4] with %d cores and UV_THREADPOOL_SIZE=%s, %d hashes run concurrently', (cores, threads, concurrency) => {
    expect(hashConcurrency(cores, threads)).toBe(concurrency);
  });
});

describe.each(ONE_PLATFORM)('with the queue of the process on %s', (platform) => {
  let app: AuthApp;
  let release: () => Promise<void> = async () => undefined;
  beforeAll(async () => {
    app = await startAuth(platform, { auth: { throttle: false } });
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await release();
  });
  afterAll(() => app.close());
  const login = (email: string, password = PASSWORD) => app.post(LOGIN, { email, password });
  /** Occupies running and waiting slots of the queue until `release` is called. */
  const occupy = (slots: number): void => {
    const { task, finish } = blockingTask();
    const jobs = Array.from({ length: slots }, () => hashingQueue.run(task));
    release = async () => {
      finish();
      await Promise.all(jobs);
    };
  };

  it('[2.4] 300 parallel logins are all answered, and no more than the limit hash concurrently', async () => {
    const email = uniqueEmail();
    await app.register({ email });
    const state = { running: 0, most: 0 };
    const compare = bcrypt.compare.bind(bcrypt) as (password: string, hash: string) => Promise<boolean>;
    vi.spyOn(bcrypt, 'compare').mockImplementation((async (password: string, hash: string) => {
      state.running += 1;
      state.most = Math.max(state.most, state.running);
      const isEqual = await compare(password, hash);
      state.running -= 1;
      return isEqual;
    }) as never);
    const send = [() => login(email), () => login(email, 'not the password'), () => login('nobody@example.com')];
    const answers = await Promise.all(Array.from({ length: 300 }, (_, n) => send[n % 3]!()));
    expect(answers.map(({ status }) => status)).toEqual(answers.map((_, n) => (n % 3 === 0 ? 200 : 401)));
    expect(state).toEqual({ running: 0, most: CONCURRENCY });
  });

  it('[2.4] a login that waits is answered when a slot is free, and requests without a hash do not wait', async () => {
    const email = uniqueEmail();
    const { token } = await app.register({ email });
    occupy(CONCURRENCY);
    const compare = vi.spyOn(bcrypt, 'compare');
    const waiting = login(email);
    expect((await app.get('/api/auth/me', { token })).status).toBe(200);
    expect(compare).not.toHaveBeenCalled();
    await release();
    expect((await waiting).status).toBe(200);
  });

  it('[2.4] when the queue is full every login is the same 503 with Retry-After, known user or not', async () => {
    const [email, inactive] = [uniqueEmail(), uniqueEmail()];
    await app.register({ email });
    const { user } = await app.register({ email: inactive });
    const accounts = app.app.get(UserAccounts, { strict: false });
    await accounts.setActive(user['id'] as number, false);
    occupy(CONCURRENCY + MAX_QUEUED);
    const answer = await login(email);
    expectFailure(answer, 503);
    expect(answer.headers['retry-after']).toBe('30');
    for (const other of [
      await login(email, 'not the password'),
      await login(email, 'x'.repeat(73)),
      await login('nobody@example.com'),
      await login(inactive),
    ])
      expect(whole(other)).toEqual(whole(answer));
    expectFailure(await app.post(LOGIN, { email }));
    const body = { email: uniqueEmail(), password: PASSWORD };
    const refused = await app.post('/api/auth/register', body);
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '30']);
    await expect(accounts.create(body)).rejects.toMatchObject({ status: 503 });
    expect(await app.users().countBy({ email: body.email })).toBe(0);
    await release();
    expect((await login(email)).status).toBe(200);
    expect((await app.post('/api/auth/register', body)).status).toBe(201);
  });
});
