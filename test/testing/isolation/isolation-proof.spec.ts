/**
 * `isolationProof` finds each of ten leaks, and nothing in the same application without one. `npm run proof:isolation`
 * sends 2,000 requests of both callers, and has every leak on both platforms; `ISOLATION_SEED` makes other requests.
 */
import { Controller, Get, type INestApplication, type Type } from '@nestjs/common';
import { InvalidOptionError } from 'declarest';
import { IsolationError, type IsolationOptions, isolationProof } from 'declarest/testing';
import type { Repository } from 'typeorm';
import { PLATFORMS } from '../../harness/platforms.js';
import { ANN, BOB, varyFor } from './agency-entities.js';
import { agency, type Leak, LEAKS } from './agency.js';
import { Book, renameOthers, shelf, sourceOf } from './shelf.js';

const FULL = process.env['ISOLATION_REQUESTS'];
const REQUESTS = Number(FULL ?? 100);
const OWN_SEED = process.env['ISOLATION_SEED'];
const SEED = Number(OWN_SEED ?? 1);

vi.setConfig({ testTimeout: 120_000 + REQUESTS * 200 });

const vary: IsolationOptions['vary'] = (app, caller) => varyFor(sourceOf(app), caller);

/** The request that tells of each leak, and a seed by which it is found early. */
const FOUND: Readonly<Record<Leak, readonly [request: RegExp, seed: number]>> = {
  scope: [/^\w+ \/api\/payments/, 2],
  owner: [/^\w+ \/api\/notes/, 7],
  include: [/^GET \/api\/reports\/projects\/\d+$/, 2],
  aggregate: [/^GET \/api\/reports\/revenue$/, 1],
  count: [/^GET \/api\/reports\/visits\/count$/, 1],
  sort: [/^GET \/api\/reports\/best-invoices by=margin$/, 5],
  filter: [/^GET \/api\/reports\/customers minimum=\d+$/, 2],
  existence: [/^PUT \/api\/settings\/\d+$/, 7],
  lookup: [/^GET \/api\/settings\/taken email=x?customer\d@mail.example$/, 4],
  copy: [/^POST \/api\/settings\/pages\/\d+\/copies$/, 2],
};

async function findingOf(createApp: () => Promise<INestApplication>, options: Partial<IsolationOptions> = {}) {
  const proof = isolationProof(createApp, { as: [ANN, BOB], vary, requests: 2_000, seed: SEED, ...options });
  const error: unknown = await proof.catch((reason: unknown) => reason);
  if (!(error instanceof IsolationError)) throw new Error('Nothing was found', { cause: error });
  return { ...error.finding, message: error.message };
}

describe.each(PLATFORMS)('isolationProof on %s', (platform) => {
  it(`finds nothing in the application by ${REQUESTS} requests of each caller`, async () => {
    const callers = FULL === undefined ? [platform === 'express' ? ANN : BOB] : [ANN, BOB];
    const options = { as: callers, vary, requests: REQUESTS, seed: SEED };
    const { operations } = await isolationProof(agency(platform), options);
    const statuses = Object.entries(operations).flatMap(([name, counts]) =>
      Object.entries(counts).map(([status, count]) => ({ name, status: Number(status), count })),
    );
    expect(statuses.reduce((sum, { count }) => sum + count, 0)).toBe(callers.length * REQUESTS);
    const succeeded = new Set(statuses.flatMap(({ name, status }) => (status < 300 ? [name] : [])));
    expect([...succeeded]).toEqual(
      expect.arrayContaining([
        'GET /api/projects',
        'POST /api/projects/batch',
        'GET /api/projects/{projectId}/tasks',
        'PUT /api/settings/{id}',
        'GET /api/reports/best-invoices',
      ]),
    );
    expect(succeeded.size).toBeGreaterThan(Object.keys(operations).length / 2);
  });

  // Each leak on one of the platforms, unless all requests are sent.
  const leaks = (Object.keys(LEAKS) as Leak[]).filter(
    (_, place) => FULL !== undefined || PLATFORMS[place % 2] === platform,
  );
  it.each(leaks.map((leak) => [LEAKS[leak], leak] as const))('finds %s', async (_, leak) => {
    const [told, early] = FOUND[leak];
    const seed = Number(OWN_SEED ?? early);
    const { request, earlier, compared, caller, message } = await findingOf(agency(platform, leak), { seed });
    const { method, path, query, headers } = request;
    expect([`${method} ${path}`, ...query.map((pair) => pair.join('='))].join(' ')).toMatch(told);
    expect([earlier, headers, query.length < 2, [ANN, BOB].includes(caller)]).toEqual([[], {}, true, true]);
    expect(compared.texts[0]).not.toBe(compared.texts[1]);
    if (leak !== 'sort') return;
    expect(message.split('\n')).toEqual([
      `The answer to a request depends on what its caller may not see (seed ${seed}).`,
      `caller: ${JSON.stringify(caller)}`,
      'sent:   GET /api/reports/best-invoices?by=margin',
      expect.stringMatching(/^one database: {3}200 content-type: application\/json; charset=utf-8 \[\{"id":[78],/),
      expect.stringMatching(/^other database: 200 content-type: application\/json; charset=utf-8 \[\{"id":[12],/),
    ]);
  });
});

describe('isolationProof', () => {
  const proofOf = (createApp: () => Promise<INestApplication>, options: Partial<IsolationOptions> = {}) =>
    isolationProof(createApp, {
      as: [ANN],
      vary: renameOthers,
      requests: FULL === undefined ? 50 : 100,
      seed: SEED,
      ...options,
    });
  const withVary = (change: (books: Repository<Book>) => Promise<unknown>) =>
    proofOf(shelf(), { vary: (app) => change(sourceOf(app).getRepository(Book)) });

  it('sends the same requests for the same seed', async () => {
    const [one, same, other] = [SEED, SEED, SEED + 1].map((seed) => proofOf(shelf(), { seed, requests: 40 }));
    expect(await same).toEqual(await one);
    expect(await other).not.toEqual(await one);
  });

  it('[9.4] accepts other generated ids', async () => {
    const { excepted } = await withVary((books) => books.insert({ tenantId: 2, title: 'Kim' }));
    expect(excepted['generated id']).toBeGreaterThan(0);
  });

  it('[9.4] accepts a conflict with a unique value', async () => {
    const { excepted } = await withVary((books) => books.delete({ tenantId: 2 }));
    expect(excepted.conflict).toBeGreaterThan(0);
  });

  const answering = (answer: () => unknown): Type => {
    @Controller('/changing')
    class ChangingController {
      @Get()
      get() {
        return answer();
      }
    }
    return ChangingController;
  };

  it('counts a difference that it cannot repeat', async () => {
    let calls = 0;
    const { excepted } = await proofOf(shelf(answering(() => ({ isFirst: ++calls === 1 }))));
    expect(excepted['not repeated']).toBe(1);
  });

  it('accepts times of the test, and no others', async () => {
    await proofOf(shelf(answering(() => ({ now: new Date(), number: Date.now() }))));
    let day = 0;
    const earlier = shelf(answering(() => new Date((day += 86_400_000)).toISOString()));
    const { request } = await findingOf(earlier, { as: [ANN], vary: renameOthers });
    expect(request.path).toBe('/changing');
  });

  it.each([
    [
      'no function',
      [{}, { as: [ANN], vary }],
      'isolationProof(): createApp must be a function, got an object. Pass one that creates an application.',
    ],
    [
      'no users',
      [shelf(), { as: [], vary }],
      'isolationProof(): as must be an array of users, got an array of 0. Name a user of each tenant.',
    ],
    [
      'no vary',
      [shelf(), { as: [ANN] }],
      'isolationProof(): vary must be a function, got undefined. Pass one that changes the second database.',
    ],
    [
      'no requests',
      [shelf(), { as: [ANN], vary, requests: 0 }],
      'isolationProof(): requests must be a positive integer, got 0. Set 2000.',
    ],
    [
      'a seed that is no integer',
      [shelf(), { as: [ANN], vary, seed: 'x' }],
      'isolationProof(): seed must be an integer, got "x". Set 1.',
    ],
    [
      'an unknown option',
      [shelf(), { as: [ANN], vary, users: [] }],
      'isolationProof(): options must be an object with only the options as, vary, requests, seed, send, got "users". Correct or remove it.',
    ],
  ] as const)('refuses %s', async (_, args, message) => {
    const call = isolationProof(...(args as unknown as Parameters<typeof isolationProof>));
    await expect(call).rejects.toThrow(InvalidOptionError);
    await expect(call).rejects.toThrow(message);
  });

  it('refuses databases that do not differ by vary only', async () => {
    await expect(withVary(async () => {})).rejects.toThrow(
      'isolationProof(): vary must change what the caller may not see, got no change. Change records of others and hidden fields.',
    );
    const app = await shelf()();
    await expect(proofOf(async () => app)).rejects.toThrow(
      'isolationProof(): createApp must create a database for each call, got one for two calls. Use a new name, or ":memory:".',
    );
    let id = 100;
    const growing = async () => {
      const created = await shelf()();
      await sourceOf(created).getRepository(Book).insert({ id: id++, tenantId: 1, title: 'Kim' });
      return created;
    };
    await expect(proofOf(growing)).rejects.toThrow(
      'isolationProof(): createApp must create the same records each time, got other primary keys. Set the keys of the records.',
    );
  });
});
