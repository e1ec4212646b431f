/** Requests that overlap between their statements, on every database. */
import { setTimeout as delay } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import type { AuthApp } from './auth-app.js';

type Query = (...given: unknown[]) => Promise<unknown>;

/** Finishes other work before the next statement that matches is sent. */
export function beforeStatement({ app }: AuthApp, pattern: RegExp, work: () => Promise<unknown>): void {
  const runner = app.get(DataSource, { strict: false }).createQueryRunner();
  const prototype = Object.getPrototypeOf(runner) as { query: Query };
  const { query } = prototype;
  let isDone = false;
  vi.spyOn(prototype, 'query').mockImplementation(async function (this: unknown, ...given) {
    if (!isDone && pattern.test(String(given[0]))) {
      isDone = true;
      await work();
    }
    return query.apply(this, given);
  });
}

/** Better-sqlite3 answers at once, so that one request would make all its statements before the next one begins. */
export function slowStatements({ app }: AuthApp): void {
  const runner = app.get(DataSource, { strict: false }).createQueryRunner();
  const prototype = Object.getPrototypeOf(runner) as { query: Query };
  const { query } = prototype;
  vi.spyOn(prototype, 'query').mockImplementation(async function (this: unknown, ...given) {
    const result = await query.apply(this, given);
    await delay(5);
    return result;
  });
}
