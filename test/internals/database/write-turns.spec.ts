/** Whether writes outside of transactions run at the same time, by the driver. */
import { DataSource, type DataSourceOptions } from 'typeorm';
import { ConnectionQueue } from '../../../lib/database/connections.js';

/** sql.js is not installed, and not called here. @returns how many writes ran at the same time at most, of three with a read inside */
async function concurrentWrites(type: string, driver = {}): Promise<number> {
  const queue = new ConnectionQueue(new DataSource({ type, database: ':memory:', ...driver } as DataSourceOptions));
  let running = 0;
  let most = 0;
  const write = () =>
    queue.write(() =>
      queue.statement(async () => {
        most = Math.max(most, (running += 1));
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
      }),
    );
  await Promise.all([write(), write(), write()]);
  return most;
}

it('[4.6] writes of sql.js run one at a time, so that each gets the id of its own record', async () => {
  expect(await concurrentWrites('sqljs', { database: undefined, driver: {} })).toBe(1);
  expect(await concurrentWrites('better-sqlite3')).toBe(3);
});
