import { createHook } from 'node:async_hooks';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import bcrypt from 'bcrypt';
import { HashingQueue, ServerBusy } from '../../lib/auth/hashing-queue.js';
import { hashConcurrency } from '../../lib/auth/passwords.js';

const hash = (): Promise<string> => bcrypt.hash('correct horse battery', 4);
const queue = (limits: Partial<ConstructorParameters<typeof HashingQueue>[0]> = {}): HashingQueue =>
  new HashingQueue({ concurrency: 1, maxQueued: 1_000, timeoutMs: 30_000, ...limits });

/** Work that goes on until it is told to end. */
function held(): { work: () => Promise<void>; end: () => void } {
  let end!: () => void;
  const ended = new Promise<void>((resolve) => (end = resolve));
  return { work: () => ended, end };
}

/** What became of each, in short. */
const outcomes = async (jobs: Promise<unknown>[]): Promise<string[]> =>
  (await Promise.allSettled(jobs)).map((job) =>
    job.status === 'fulfilled' ? 'done' : job.reason instanceof ServerBusy ? 'busy' : String(job.reason),
  );

describe('hashing in a queue', () => {
  it.each([1, 2, 3])('[2.4] runs %d at a time and no more, until all are done', async (atOnce) => {
    const hashing = queue({ atOnce });
    const state = { running: 0, most: 0 };
    const jobs = Array.from({ length: 40 }, () =>
      hashing.run(async () => {
        state.running += 1;
        state.most = Math.max(state.most, state.running);
        const made = await hash();
        state.running -= 1;
        return made;
      }),
    );
    for (const made of await Promise.all(jobs)) expect(made).toHaveLength(60);
    expect(state).toEqual({ running: 0, most: atOnce });
  });

  it('[2.4] starts them in the order in which they came', async () => {
    const hashing = queue({ concurrency: 3 });
    const started: number[] = [];
    const jobs = Array.from({ length: 200 }, (_, n) =>
      hashing.run(() => {
        started.push(n);
        return hash();
      }),
    );
    await Promise.all(jobs);
    expect(started).toEqual(Array.from({ length: 200 }, (_, n) => n));
  });

  it('[2.4] lets nobody who comes while a place changes hands be before who has waited', async () => {
    const hashing = queue();
    const started: string[] = [];
    const start = (name: string) =>
      hashing.run(() => {
        started.push(name);
        return hash();
      });
    const { work, end } = held();
    const jobs: Promise<unknown>[] = [hashing.run(work), start('waited')];
    end();
    for (let turn = 0; turn < 10; turn += 1) {
      await Promise.resolve();
      jobs.push(start('came'));
    }
    await Promise.all(jobs);
    expect(started).toEqual(['waited', ...Array<string>(10).fill('came')]);
  });

  it('[2.4] hands over what the work returns, and how it fails, and goes on after that', async () => {
    const hashing = queue();
    const failure = new Error('no such salt');
    const jobs = [hashing.run(() => Promise.reject(failure)), hashing.run(hash)];
    await expect(jobs[0]).rejects.toBe(failure);
    await expect(jobs[1]).resolves.toHaveLength(60);
    await expect(hashing.run(hash)).resolves.toHaveLength(60);
  });

  it('[2.4] has room for 1,000 that wait; the next is refused at once, and the others keep their places', async () => {
    const hashing = queue({ concurrency: 2 });
    const { work, end } = held();
    const jobs = Array.from({ length: 1_002 }, () => hashing.run(work));
    const refused = hashing.run(hash);
    await expect(refused).rejects.toBeInstanceOf(ServerBusy);
    await expect(refused).rejects.toMatchObject({ retryAfter: 30, status: 503 });
    end();
    expect(new Set(await outcomes(jobs))).toEqual(new Set(['done']));
    await expect(hashing.run(hash)).resolves.toHaveLength(60);
  });

  it('[2.4] refuses who has waited too long, whose work is never begun, and gives the place to another', async () => {
    const hashing = queue({ maxQueued: 2, timeoutMs: 40 });
    const { work, end } = held();
    const running = hashing.run(work);
    const begun: string[] = [];
    const waiting = ['first', 'second'].map((name) => hashing.run(async () => begun.push(name)));
    expect(await outcomes([...waiting, hashing.run(hash)])).toEqual(['busy', 'busy', 'busy']);
    const later = hashing.run(hash);
    end();
    expect(await outcomes([running, later])).toEqual(['done', 'done']);
    expect(begun).toEqual([]);
    expect(await outcomes([hashing.run(hash)])).toEqual(['done']);
  });

  it('[2.4] counts the time of waiting only: work may take longer than anybody waits', async () => {
    const hashing = queue({ timeoutMs: 30 });
    const slow = () => delay(90);
    expect(await outcomes([hashing.run(slow)])).toEqual(['done']);
    const [first, second] = [hashing.run(hash), hashing.run(slow)];
    expect(await outcomes([first, second])).toEqual(['done', 'done']);
  });

  it('[2.4] says in whole seconds when to try again, one at least', async () => {
    for (const [patience, retryAfter] of [
      [30_000, 30],
      [1_500, 2],
      [40, 1],
    ] as const)
      await expect(queue({ concurrency: 0, maxQueued: 0, patience }).run(hash)).rejects.toMatchObject({ retryAfter });
  });

  it('[2.4] keeps no process alive by what waits', async () => {
    // Those that do keep it alive.
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    const hashing = queue();
    const { work, end } = held();
    const jobs = [hashing.run(work), hashing.run(hash), hashing.run(hash)];
    expect(timers()).toBe(before);
    end();
    await Promise.all(jobs);
  });

  it('[2.4] leaves no timer behind of who had a turn', async () => {
    const timers = new Set<number>();
    const watch = createHook({
      init: (id, type) => void (type === 'Timeout' && timers.add(id)),
      destroy: (id) => void timers.delete(id),
    }).enable();
    const hashing = queue();
    const { work, end } = held();
    const jobs = [hashing.run(work), hashing.run(hash), hashing.run(hash)];
    expect(timers.size).toBe(2);
    end();
    await Promise.all(jobs);
    // What is gone is told a turn of the event loop later.
    await nextTurn();
    await nextTurn();
    watch.disable();
    expect(timers.size).toBe(0);
  });
});

describe('how many hash at a time', () => {
  it.each<[cores: number, threads: string | undefined, concurrency: number]>([
    [1, undefined, 1],
    [2, undefined, 1],
    [4, undefined, 3],
    [16, undefined, 3],
    [16, '16', 15],
    [8, '64', 7],
    [8, '2', 1],
    [8, '1', 1],
    [8, '0', 1],
    [8, '', 1],
    [8, 'many', 1],
    [8, '-1', 1],
  ])('[2.4] with %d cores and UV_THREADPOOL_SIZE=%s it is %d', (cores, threads, atOnce) => {
    expect(hashConcurrency(cores, threads)).toBe(atOnce);
  });
});
