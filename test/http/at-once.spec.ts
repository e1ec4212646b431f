import { runInNewContext } from 'node:vm';
import { after, isLater, orElse } from '../../lib/http/at-once.js';

const objectWith = (name: string, value: unknown): unknown => Object.fromEntries([[name, value]]);

/** Of an application that has put another `Promise` in the place of the global one, as zone.js does. */
const FOREIGN: readonly [string, (value: unknown) => PromiseLike<unknown>][] = [
  ['a promise', (value) => Promise.resolve(value)],
  ['a promise of another realm', (value) => runInNewContext('Promise.resolve(value)', { value }) as Promise<unknown>],
  [
    'any object with a `then`',
    (value) => objectWith('then', (...args: [never]) => Promise.resolve(value).then(...args)) as PromiseLike<unknown>,
  ],
];

describe.each(FOREIGN)('[4.2] an answer that is %s', (_, promiseOf) => {
  it('is waited for', async () => {
    expect(isLater(promiseOf(1))).toBe(true);
    expect(await after(promiseOf(1) as Promise<number>, (value) => value + 1)).toBe(2);
  });

  it('fails later', async () => {
    const failing = after(promiseOf(0) as Promise<number>, () => {
      throw new Error('late');
    });
    expect(
      await orElse(
        () => failing,
        (error) => (error as Error).message as never,
      ),
    ).toBe('late');
  });
});

describe('[4.2] an answer that is there', () => {
  it.each([undefined, null, 0, '', 'then', false, {}, objectWith('then', 1), []])('is not waited for: %j', (value) => {
    expect(isLater(value)).toBe(false);
    expect(after(value, (seen) => [seen])).toEqual([value]);
  });

  it('fails at once', () => {
    const failing = (): never => {
      throw new Error('now');
    };
    expect(orElse<unknown>(failing, (error) => (error as Error).message)).toBe('now');
  });
});
