/** How many connections of a pool writes and transactions take. */
import { setTimeout as wait } from 'node:timers/promises';
import { ConflictException } from '@nestjs/common';
import { DataSource, type DataSourceOptions, QueryFailedError } from 'typeorm';
import { ConnectionQueue } from '../../../lib/database/connections.js';
import { DatabaseUnavailable } from '../../../lib/entities/database-errors.js';

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

it.each(['postgres', 'mysql'])('runs one of the writes of a record at a time, of a pool of %s', async (type) => {
  const connections = new ConnectionQueue(new DataSource({ type, poolSize: 8 } as DataSourceOptions));
  const order: string[] = [];
  let release = (): void => undefined;
  const locked = new Promise<void>((resolve) => (release = resolve));
  const write = (name: string, record?: string): Promise<unknown> =>
    connections.write(async () => {
      if (record === 'locked') await locked;
      order.push(name);
    }, record);
  const waiting = [1, 2, 3, 4, 5].map((number) => write(`locked ${number}`, 'locked'));
  await Promise.all([write('other', 'other'), write('none'), write('other again', 'other')]);
  release();
  await Promise.all([...waiting, write('late', 'locked')]);
  const behind = [1, 2, 3, 4, 5].map((number) => `locked ${number}`);
  expect(order).toEqual(['other', 'none', 'other again', ...behind, 'late']);
});

it.each(['postgres', 'mysql'])(
  'refuses writes that wait for a record where the one before fails, on %s',
  async (type) => {
    const extra = { connectionTimeoutMillis: 60, connectTimeout: 60 };
    const connections = new ConnectionQueue(new DataSource({ type, poolSize: 8, extra } as DataSourceOptions));
    const failWith = (error: unknown) => async (): Promise<never> => {
      await wait(5);
      throw error;
    };
    const lost = (code: string) => new QueryFailedError('UPDATE', [], Object.assign(new Error(code), { code }));
    /** @returns what the write that fails, one that waits, and one that begins later end with */
    const outcomes = async (error: unknown): Promise<unknown[]> => {
      const first = [connections.write(failWith(error), 'a'), connections.write(() => Promise.resolve('written'), 'a')];
      const settled = await Promise.allSettled(first);
      const late = await connections.write(() => Promise.resolve('late'), 'a');
      return [...settled.map((each) => (each.status === 'rejected' ? (each.reason as unknown) : each.value)), late];
    };
    for (const code of ['55P03', 'ER_LOCK_WAIT_TIMEOUT', 'ECONNRESET']) {
      const error = lost(code);
      expect(await outcomes(error)).toEqual([error, error, 'late']);
      const translated = new DatabaseUnavailable({ cause: error });
      expect(await outcomes(translated)).toEqual([translated, error, 'late']);
    }
    for (const error of [lost('40P01'), lost('ER_LOCK_DEADLOCK'), lost('23505'), new ConflictException('taken')])
      expect(await outcomes(error)).toEqual([error, 'written', 'late']);
    // One that waits has a limit of its own, and leaves the record to those behind it.
    const long = connections.write(() => wait(150).then(() => 'long'), 'a');
    await expect(connections.write(() => Promise.resolve('never'), 'a')).rejects.toThrow(DatabaseUnavailable);
    expect(await Promise.all([long, connections.write(() => Promise.resolve('b'), 'b')])).toEqual(['long', 'b']);
    expect(await connections.write(() => Promise.resolve('a'), 'a')).toBe('a');
  },
);
