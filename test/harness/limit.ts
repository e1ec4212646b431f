import { setTimeout as delay } from 'node:timers/promises';

/**
 * Sends what waits for a limit of rxjs `timeout`, and moves its clock, which is an interval: nothing ends 1 ms before.
 * @param count how many limits are waited for
 */
export async function untilLimit<R>(ms: number, count: number, send: () => Promise<R>): Promise<R> {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  let hasAnswered = false;
  const answers = send().finally(() => (hasAnswered = true));
  while (vi.getTimerCount() < count) await delay(1);
  vi.advanceTimersByTime(ms - 1);
  await delay(50);
  expect([hasAnswered, vi.getTimerCount()]).toEqual([false, count]);
  vi.advanceTimersByTime(1);
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
  return answers;
}
