/**
 * `isolationProof` finds each of ten leaks, and nothing in the same application without one. `npm run proof:isolation`
 * sends 2,000 requests of both callers, and has every leak on both platforms; `ISOLATION_SEED` makes other requests.
 */
import { randomUUID } from 'node:crypto';
import { Controller, ForbiddenException, Get, type INestApplication, Post, Res, type Type } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { InvalidOptionError } from 'declarest';
import { apiKeys } from 'declarest-logins/api-keys';
import { passkeys } from 'declarest-logins/passkeys';
import { secondFactor } from 'declarest-logins/second-factor';
import { as, IsolationError, type IsolationOptions, isolationProof, varyHidden } from 'declarest/testing';
import type { FastifyReply } from 'fastify';
import { DataSource, type Repository } from 'typeorm';
import { PLATFORMS } from '../../harness/platforms.js';
import { ANN, BOB, varyFor } from './agency-entities.js';
import { agency, type Leak, LEAKS } from './agency.js';
import { Book, renameOthers, shelf, shelfWith, sourceOf } from './shelf.js';

const FULL = process.env['ISOLATION_REQUESTS'];
const REQUESTS = Number(FULL ?? 100);
const OWN_SEED = process.env['ISOLATION_SEED'];
const SEED = Number(OWN_SEED ?? 1);

vi.setConfig({ testTimeout: 120_000 + REQUESTS * 200 });

/** Every row of the database, by its key. */
async function rowsOf(app: INestApplication): Promise<{ table: string; key: string; text: string }[]> {
  const { entityMetadatas, manager } = app.get(DataSource, { strict: false });
  const tables = entityMetadatas.map(async ({ tablePath: table, primaryColumns }) => {
    const rows: Record<string, unknown>[] = await manager.query(`SELECT * FROM "${table}"`);
    const keyOf = (row: Record<string, unknown>) => primaryColumns.map(({ databaseName }) => row[databaseName]);
    return rows.map((row) => ({ table, key: JSON.stringify([table, keyOf(row)]), text: JSON.stringify(row) }));
  });
  return (await Promise.all(tables)).flat();
}

const vary: NonNullable<IsolationOptions['vary']> = (app, caller) => varyFor(sourceOf(app), caller);

const onlyTags: IsolationOptions['vary'] = (app) =>
  sourceOf(app).query("UPDATE tag SET label = 'changed' WHERE tenantId = 2");

/** Only routes of the application itself read visits and settings. */
const withOwnTables: IsolationOptions['vary'] = async (app, caller) => {
  await varyHidden(app, caller);
  const tenantId = caller.claims?.['tenantId'] === 1 ? 2 : 1;
  for (const table of ['visit', 'setting']) await sourceOf(app).query(`DELETE FROM ${table} WHERE id = ${tenantId}`);
};

/** The tables of which `varyHidden` changes records. */
const VARIED = 'comment customer invoice note page payment project project_tag tag task tenant'.split(' ');
const SEEN = ['projects', 'customers', 'invoices', 'notes', 'tenants', 'projects/1/tasks'];

/** The request that tells of each leak, and a seed by which it is found early. */
const FOUND: Readonly<Record<Leak, readonly [request: RegExp, seed: number]>> = {
  scope: [/^\w+ \/api\/payments/, 2],
  owner: [/^\w+ \/api\/notes/, 7],
  include: [/^GET \/api\/reports\/projects\/\d+$/, 2],
  aggregate: [/^GET \/api\/reports\/revenue$/, 1],
  count: [/^GET \/api\/reports\/visits\/count$/, 1],
  sort: [/^GET \/api\/reports\/best-invoices by=margin$/, 5],
  filter: [/^GET \/api\/reports\/customers minimum=\d+$/, 2],
  existence: [/^PUT \/api\/settings\/\d+$/, 9],
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
    const { excepted } = await proofOf(shelf(answering(() => ({ isThird: ++calls === 3 }))));
    expect(excepted['not repeated']).toBe(1);
  });

  it('accepts times of the test, and no others', async () => {
    await proofOf(shelf(answering(() => ({ now: new Date(), number: Date.now() }))));
    let calls = 0;
    // The third application answers another one.
    const earlier = shelf(answering(() => new Date(2001, 1, ++calls % 3 === 0 ? 1 : 2).toISOString()));
    const { request } = await findingOf(earlier, { as: [ANN], vary: renameOthers });
    expect(request.path).toBe('/changing');
  });

  it('[issue 18] accepts what two equal databases answer differently, in whatever form', async () => {
    const random = () => ({ challenge: randomUUID(), list: [{ code: Math.random() }], constant: 1 });
    expect((await proofOf(shelf(answering(random)))).excepted['not repeated']).toBe(0);
    await proofOf(shelf(answering(() => `a,${randomUUID()}\nb,1`)));
  });

  it('[issue 18] accepts the random answers of plugins of the package', async () => {
    const plugins = [
      secondFactor({ issuer: 'Shop' }),
      passkeys({ rpId: 'shop.example', origins: ['https://shop.example'], secondFactor: true }),
      apiKeys(),
    ];
    const options = { as: [ANN], vary: renameOthers, requests: 150 };
    const { operations, excepted } = await isolationProof(shelfWith(plugins), options);
    expect(operations['POST /api/auth/passkeys/login/options']?.[200]).toBeGreaterThan(0);
    expect(excepted['not repeated']).toBe(0);
  });

  /** Answers by what a caller of the other tenant must not know: the title of the second book. */
  const told: Record<string, (title: string) => { body?: object; headers?: Record<string, string>; status?: number }> =
    {
      'a member whose name ends in token': (title) => ({ body: { inviteToken: title } }),
      'a weak entity tag': (title) => ({ headers: { etag: `W/"${title.length}"` } }),
      'a header': (title) => ({ headers: { 'x-risk': title } }),
      'a cookie': (title) => ({ headers: { 'set-cookie': `seen=${title}; Path=/` } }),
      'a member beside random ones': (title) => ({ body: { id: randomUUID(), title } }),
      'a conflict of a hand-written route': (title) =>
        title === 'Ulysses' ? { status: 409, body: { message: 'The code is already taken' } } : { status: 201 },
    };

  it.each(Object.keys(told))('[issue 18] finds what %s tells', async (kind) => {
    @Controller('/telling')
    class TellingController {
      constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

      @Post()
      async tell(@Res({ passthrough: true }) response: FastifyReply) {
        const { title } = await this.dataSource.getRepository(Book).findOneByOrFail({ id: 2 });
        const { body = {}, headers = {}, status = 201 } = told[kind]?.(title) ?? {};
        response.headers(headers).status(status);
        return body;
      }
    }
    const { request } = await findingOf(shelf(TellingController), { as: [ANN], vary: renameOthers, requests: 60 });
    expect(request.operation).toBe('POST /telling');
  });

  it('[issue 18] names operations without a success, and tables that vary does not touch', async () => {
    @Controller('/denied')
    class DeniedController {
      @Get()
      get() {
        throw new ForbiddenException();
      }
    }
    const { failed, untouched, operations } = await isolationProof(shelf(DeniedController), { as: [ANN] });
    expect(failed).toContain('GET /denied');
    expect(failed).not.toContain('GET /books');
    expect(untouched).toEqual([]);
    // Three requests for each operation, unless the option says otherwise.
    const sent = Object.values(operations).flatMap((statuses) => Object.values(statuses));
    expect(sent.reduce((sum, count) => sum + count, 0)).toBe(3 * Object.keys(operations).length);
    const { untouched: unchanged } = await isolationProof(agency('express'), {
      as: [ANN],
      requests: 1,
      vary: onlyTags,
    });
    expect(unchanged).toEqual(expect.arrayContaining(['project', 'invoice']));
    expect(unchanged).not.toContain('tag');
  });

  describe('[issue 18] without vary', () => {
    it.each([ANN, BOB])('changes what the caller does not see, and nothing that it sees', async (caller) => {
      const [before, after] = [await agency('express')(), await agency('express')()];
      await varyHidden(after, caller);
      const rows = await Promise.all([before, after].map(rowsOf));
      const changed = rows[0]!.filter(({ key, text }) => rows[1]!.find((row) => row.key === key)?.text !== text);
      // Not those without a resource, and not those that everybody reads.
      expect([...new Set(changed.map(({ table }) => table))].toSorted()).toEqual(VARIED);
      expect(rows[1]!.length).toBeLessThan(rows[0]!.length);
      const answers = async (app: INestApplication): Promise<string[]> => {
        const found = await Promise.all(SEEN.map((name) => as(app, caller).get(`/api/${name}`)));
        return found.map(({ text }) => text.replaceAll(/"(timestamp|createdAt)":"[^"]*"/g, ''));
      };
      const shown = await answers(before);
      expect(await answers(after)).toEqual(shown);
      expect(shown.filter((text) => text.includes('"id":')).length).toBeGreaterThan(SEEN.length / 2);
      await Promise.all([before, after].map((app) => app.close()));
    });

    it('finds nothing in the application', async () => {
      const { excepted } = await isolationProof(agency('fastify'), { as: [ANN, BOB], seed: SEED });
      expect(excepted['not repeated']).toBe(0);
    });

    // What is declared counts as meant: a resource without a scope is a line of the access table.
    const found = (Object.keys(LEAKS) as Leak[]).filter((leak) => leak !== 'scope' && leak !== 'owner');
    it.each(found)('finds the leak by %s', async (leak) => {
      const [told, early] = FOUND[leak];
      const { request } = await findingOf(agency('fastify', leak), {
        as: [ANN, BOB],
        seed: early,
        vary: withOwnTables,
      });
      const { method, path, query } = request;
      expect([`${method} ${path}`, ...query.map((pair) => pair.join('='))].join(' ')).toMatch(told);
    });
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
      'a vary that is no function',
      [shelf(), { as: [ANN], vary: true }],
      'isolationProof(): vary must be a function, got true. Pass one that changes the second database.',
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
