/** How many connections of a pool writes and transactions take. */
import { setTimeout as wait } from 'node:timers/promises';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { ConnectionQueue } from '../../../lib/database/connections.js';

it.each(['postgres', 'mysql'])('runs writes on half of the connections of a pool of %s', async (type) => {
  const connections = new ConnectionQueue(new DataSource({ type, poolSize: 5 } as DataSourceOptions));
  let open = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    most = Math.max(most, (open += 1));
    await wait(2);
    open -= 1;
  };
  await Promise.all([1, 2, 3, 4, 5].flatMap(() => [connections.transaction(work), connections.write(work)]));
  expect(most).toBe(2);
});

it.each(['postgres', 'mysql'])('runs a write inside of a write in the same turn, of a pool of %s', async (type) => {
  const connections = new ConnectionQueue(new DataSource({ type, poolSize: 5 } as DataSourceOptions));
  const late: Promise<string>[] = [];
  const read = (): Promise<string> => connections.statement(() => Promise.resolve('read'));
  const write = (): Promise<string> =>
    connections.write(async () => {
      await wait(2);
      late.push(wait(10).then(() => connections.write(read)));
      return connections.transaction(() => connections.write(read));
    });
  const results = await Promise.all(Array.from({ length: 20 }, write));
  expect([...results, ...(await Promise.all(late))]).toEqual(Array.from({ length: 40 }, () => 'read'));
});
