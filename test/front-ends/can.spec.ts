/** What the client and the providers say that a user may do, against what the server then does. */
import { createClient, type Client, Failure } from 'declarest-client';
import * as reactAdmin from 'ra-data-declarest';
import * as refine from 'refine-declarest';
import { PLATFORMS } from '../harness/platforms.js';
import { PASSWORD, recordedOptions, type RecordedOptions, type Service, startLibrary } from './admin-service.js';
import { startShop } from './shop-service.js';

/** What openapi-typescript writes of a document, in short. */
interface paths {
  '/api/auth/access': { get: object };
  '/api/auth/users/{id}': { patch: object };
  '/api/lamps': {
    get: { responses: { 200: { content: { 'application/json': { data: { id: number; name: string }[] } } } } };
    post: { requestBody: { content: { 'application/json': { name: string; cost?: number } } } };
    put?: never;
  };
  '/api/lamps/{id}': { get: object; patch: object; put: object; delete?: never };
  '/api/lamps/batch': { post?: never; patch: object };
  '/api/lamps/top-sellers': { get: object };
  '/api/lamps/{lampId}/ratings': { get: object };
  '/api/lamps/{lampId}/ratings/{id}': { delete: object };
}

const ROLES = ['nobody', 'ann', 'sam', 'eve'] as const;
type Role = (typeof ROLES)[number];
const emailOf = (name: string): string => `${name}@example.com`;

interface LoggedIn extends RecordedOptions {
  readonly client: Client;
}

async function logIn(api: string, name: Role, change: Partial<RecordedOptions> = {}): Promise<LoggedIn> {
  const options = { ...recordedOptions(api), ...change };
  const client = createClient(api, options);
  if (name !== 'nobody') await client.login({ email: emailOf(name), password: PASSWORD });
  options.sent.length = 0;
  return { ...options, client };
}

describe.each(PLATFORMS)('the client on %s', (platform) => {
  let shop: Service;
  beforeAll(async () => {
    shop = await startShop(platform);
  });
  afterAll(() => shop.close());

  it.each(ROLES)('says for %s what the server then does, by operation and record', async (name) => {
    const { client } = await logIn(shop.api, name);
    const calls = [
      ['findAll', 'lamps', 'GET', 'lamps', undefined],
      ['create', 'lamps', 'POST', 'lamps', undefined],
      ['findAll', 'purchases', 'GET', 'purchases', undefined],
      ['patch', 'lamps', 'PATCH', 'lamps/1', { id: 1 }],
      ['delete', 'lamps', 'DELETE', 'lamps/99', undefined],
      ['patch', 'purchases', 'PATCH', 'purchases/1', { id: 1, customerId: 1 }],
      ['patch', 'purchases', 'PATCH', 'purchases/2', { id: 2, customerId: 2 }],
      // A list may leave the owner out.
      ['patch', 'purchases', 'PATCH', 'purchases/2', { id: 2 }],
      ['delete', 'purchases', 'DELETE', 'purchases/99', undefined],
      ['patch', 'lamps/:lampId/ratings', 'PATCH', 'lamps/1/ratings/1', { id: 1, customerId: 1, lampId: 1 }],
      ['patch', 'lamps/:lampId/ratings', 'PATCH', 'lamps/1/ratings/2', { id: 2, lampId: 1 }],
      ['findById', 'letters', 'GET', 'letters/2', { id: 2, sent: true }],
      ['patch', 'letters', 'PATCH', 'letters/1', { id: 1, sent: false }],
      ['patch', 'letters', 'PATCH', 'letters/2', { id: 2, sent: true }],
    ] as const;
    for (const [operation, resource, method, path, record] of calls) {
      const json = method === 'PATCH' || method === 'POST' ? {} : undefined;
      const status = await client.request(method, path, { ...(json && { json }) }).then(
        () => 200,
        (failure: Failure) => failure.status,
      );
      // Refusals of the record 99 and of an empty body come after those of the rules.
      const isAllowed = status === 200 || status === 400 || (status === 404 && path.endsWith('/99'));
      expect([operation, path, await client.can(operation, resource, record)]).toEqual([operation, path, isAllowed]);
    }
  });

  it('says fields, filters and sorts, and nothing of resources without operations', async () => {
    const { client } = await logIn(shop.api, 'ann');
    expect(await client.access('lamps')).toMatchObject({ read: ['id', 'name'], filter: ['name'], sort: ['name'] });
    expect(await client.access('none')).toMatchObject({ operations: [], read: [], own: [] });
    const sam = await logIn(shop.api, 'sam');
    expect(await sam.client.access('lamps')).toMatchObject({ read: ['id', 'name', 'cost'], update: ['name'] });
  });
});

describe('the client', () => {
  let shop: Service;
  beforeAll(async () => {
    // The client cannot see the platform.
    shop = await startShop('fastify', { sessions: true });
  });
  afterAll(() => shop.close());

  const urls = ({ sent }: LoggedIn): string[] => sent.map(({ path }) => path);

  it('asks once for each login, one request at a time, and for a record only where its answer differs', async () => {
    let running = 0;
    let most = 0;
    const { fetch, sent, ...rest } = recordedOptions(shop.api);
    const counting: typeof globalThis.fetch = async (...args) => {
      running += 1;
      most = Math.max(most, running);
      const response = await fetch(...args);
      running -= 1;
      return response;
    };
    const ann = await logIn(shop.api, 'ann', { ...rest, sent, fetch: counting });
    const { can } = ann.client;
    await Promise.all([
      can('patch', 'lamps', { id: 1 }),
      can('patch', 'purchases', { id: 1, customerId: 1 }),
      can('patch', 'purchases', { id: 2, customerId: 2 }),
      can('findById', 'letters', { id: 1 }),
      can('patch', 'letters', { id: 1 }),
      can('patch', 'letters', { id: 2 }),
      can('delete', 'letters', { id: 2 }),
    ]);
    await can('patch', 'letters', { id: 1 });
    expect(urls(ann)).toEqual([
      '/auth/access',
      '/auth/access?record=/api/letters/1',
      '/auth/access?record=/api/letters/2',
    ]);
    expect(most).toBe(1);
  });

  it('asks for a record again when it has other content, and when the client has changed something', async () => {
    const ann = await logIn(shop.api, 'ann');
    const letter = { id: 1, sent: false };
    expect(await ann.client.can('patch', 'letters', letter)).toBe(true);
    await ann.client.request('PATCH', 'letters/1', { json: { text: 'changed' } });
    await ann.client.can('patch', 'letters', letter);
    await ann.client.can('patch', 'letters', { ...letter, text: 'changed' });
    expect(urls(ann).filter((path) => path.includes('record='))).toHaveLength(3);
    expect(urls(ann).filter((path) => path === '/auth/access')).toHaveLength(1);
  });

  it('asks again after a login, a logout, and a refresh with other roles, and not after any refresh', async () => {
    const user = await shop.accounts.create({ email: emailOf('tim'), password: PASSWORD, role: 'STAFF' });
    const tim = await logIn(shop.api, 'nobody');
    const may = () => tim.client.can('create', 'lamps');
    const requests = () => urls(tim).filter((path) => path === '/auth/access').length;
    const expire = (): void => {
      const [[key, text] = ['', '{}']] = [...tim.items];
      const { session, ...login } = JSON.parse(text) as { session: object };
      tim.items.set(key, JSON.stringify({ ...login, session: { ...session, refreshAt: 0 } }));
    };
    expect([await may(), requests()]).toEqual([false, 1]);
    await tim.client.login({ email: emailOf('tim'), password: PASSWORD });
    expect([await may(), requests()]).toEqual([true, 2]);
    expire();
    expect([await may(), requests()]).toEqual([true, 2]);
    await shop.accounts.setRole(user.id, 'USER');
    expire();
    expect([await may(), requests()]).toEqual([false, 3]);
    await tim.client.logout();
    expect([await may(), requests()]).toEqual([false, 4]);
  });

  it('replaces a token that the server does not accept, and asks again', async () => {
    const sam = await logIn(shop.api, 'sam');
    const [[key, text] = ['', '{}']] = [...sam.items];
    const { token, ...login } = JSON.parse(text) as { token: string };
    sam.items.set(key, JSON.stringify({ ...login, token: `${token.slice(0, -6)}AAAAAA` }));
    expect(await sam.client.can('create', 'lamps')).toBe(true);
    expect(urls(sam)).toEqual(['/auth/access', '/auth/me', '/auth/refresh', '/auth/me', '/auth/access']);
  });

  it('allows everything without the endpoint, and where a proxy changes the paths', async () => {
    const library = await startLibrary('fastify');
    const options = recordedOptions(library.api);
    const client = createClient(library.api, options);
    expect([await client.can('delete', 'shelves'), await client.can('wash', 'cups')]).toEqual([true, true]);
    expect([await client.access('shelves'), options.sent.length]).toEqual([undefined, 1]);
    await library.close();
    const behindProxy = createClient(`${shop.url}/shop/api`, {
      ...recordedOptions(shop.api),
      fetch: (input, init) => fetch(String(input).replace('/shop/api', '/api'), init),
    });
    expect([await behindProxy.can('create', 'lamps'), await behindProxy.access('lamps')]).toEqual([true, undefined]);
  });

  it('throws a failure, and asks again', async () => {
    const { fetch, ...rest } = recordedOptions(shop.api);
    let fails = true;
    const failing: typeof globalThis.fetch = (input, init) =>
      fails && String(input).endsWith('/access')
        ? Promise.resolve(new Response('{}', { status: 503 }))
        : fetch(input, init);
    const sam = await logIn(shop.api, 'sam', { ...rest, fetch: failing });
    await expect(sam.client.can('create', 'lamps')).rejects.toBeInstanceOf(Failure);
    fails = false;
    expect(await sam.client.can('create', 'lamps')).toBe(true);
  });

  it('takes the names of the types of a document', async () => {
    const { storage, fetch } = recordedOptions(shop.api);
    const client = createClient<paths>(shop.api, { storage, fetch });
    expect(await client.can('patchMany', 'lamps')).toBe(false);
    const access = await client.access('lamps');
    const names: readonly ('id' | 'name' | 'cost')[] | undefined = access?.read;
    expect(names).toEqual(['id', 'name']);
    expect([
      await client.can('findAll', 'lamps/:lampId/ratings'),
      await client.can('topSellers', 'lamps'),
      // @ts-expect-error The document has no such resource.
      await client.can('findAll', 'lamp'),
      // @ts-expect-error It describes no DELETE of a lamp.
      await client.can('delete', 'lamps'),
      // @ts-expect-error It describes no batch of new lamps.
      await client.can('createMany', 'lamps'),
      // @ts-expect-error Accounts are not a resource.
      await client.can('patch', 'auth/users'),
    ]).toEqual([true, false, false, false, false, false]);
  });
});

type Can = (action: string, resource: string, record?: { readonly id: number }) => Promise<boolean>;

describe.each([
  [
    'react-admin',
    async (api: string, name: Role, options: reactAdmin.AuthProviderOptions = {}): Promise<Can> => {
      const auth = reactAdmin.authProvider(api, { ...recordedOptions(api), ...options });
      if (name !== 'nobody') await auth.login({ email: emailOf(name), password: PASSWORD });
      return (action, resource, record) => auth.canAccess({ action, resource, ...(record && { record }) });
    },
  ],
  [
    'refine',
    async (api: string, name: Role, options: reactAdmin.AuthProviderOptions = {}): Promise<Can> => {
      const all = { ...recordedOptions(api), ...options };
      if (name !== 'nobody') await refine.authProvider(api, all).login({ email: emailOf(name), password: PASSWORD });
      const { can } = refine.accessControlProvider(api, all);
      return async (action, resource, record) => {
        const [, of = resource, field] = /^(\w+)\.(\w+)$/.exec(resource) ?? [];
        // Buttons know the id only, and parameters of a path are in `meta`.
        const { id, ...meta } = record ?? {};
        const params = { ...(id !== undefined && { id, resource: { name: of, meta } }), field };
        return (await can({ resource: of, action: field === undefined ? action : 'field', params })).can;
      };
    },
  ],
])('the provider of %s', (_, providerOf) => {
  let shop: Service;
  beforeAll(async () => {
    shop = await startShop('express');
  });
  afterAll(() => shop.close());

  const ACTIONS = ['list', 'show', 'create', 'edit', 'delete'] as const;
  const own = { id: 1, customerId: 1, lampId: 1 };
  const foreign = { id: 2, customerId: 2, lampId: 1 };

  const allowed = async (can: Can, resource: string, record?: { readonly id: number }): Promise<string> => {
    const answers = await Promise.all(ACTIONS.map((action) => can(action, resource, record)));
    return ACTIONS.filter((__, index) => answers[index]).join(' ');
  };

  it.each<[name: Role, lamps: string, purchases: string, ofOthers: string, rating: string, sent: string]>([
    ['nobody', 'list show', '', '', 'list show', ''],
    ['ann', 'list show', 'list show create edit', 'list show create', 'list show create', 'list show create'],
    [
      'sam',
      'list show create edit',
      'list show create edit',
      'list show create edit',
      'list show create',
      ACTIONS.join(' '),
    ],
    ['eve', ACTIONS.join(' '), ACTIONS.join(' '), ACTIONS.join(' '), 'list show create', ACTIONS.join(' ')],
  ])('allows %s what the server allows, without an option', async (name, lamps, purchases, ofOthers, rating, sent) => {
    const can = await providerOf(shop.api, name);
    expect([
      await allowed(can, 'lamps'),
      await allowed(can, 'purchases', own),
      await allowed(can, 'purchases', foreign),
      await allowed(can, 'lamps/:lampId/ratings', foreign),
      await allowed(can, 'letters', { id: 2 }),
      await allowed(can, 'none'),
    ]).toEqual([lamps, purchases, ofOthers, rating, sent, '']);
  });

  it('allows the fields that a role may read', async () => {
    const fields = await Promise.all(
      ROLES.map(async (name) => {
        const can = await providerOf(shop.api, name);
        return [await can('read', 'lamps.name'), await can('read', 'lamps.cost')];
      }),
    );
    expect(fields).toEqual([
      [true, false],
      [true, false],
      [true, true],
      [true, true],
    ]);
  });

  it('reads in the document what the server does not generate', async () => {
    const document = {
      paths: { '/api/auth/access': {}, '/api/auth/users': { get: { 'x-access': { access: 'ADMIN' } } } },
    };
    const [ann, eve] = [
      await providerOf(shop.api, 'ann', { document }),
      await providerOf(shop.api, 'eve', { document }),
    ];
    expect([await ann('list', 'auth/users'), await eve('list', 'auth/users')]).toEqual([false, true]);
    expect([await ann('create', 'lamps'), await ann('list', 'lamps')]).toEqual([false, true]);
  });

  it('does not ask a server whose document has no such endpoint', async () => {
    const urls: string[] = [];
    const recording: typeof fetch = (input, init) => {
      urls.push(String(input));
      return fetch(input, init);
    };
    const document = { paths: { '/api/lamps': { post: { 'x-access': { access: 'ADMIN' } } } } };
    const can = await providerOf(shop.api, 'ann', { document, fetch: recording });
    expect([await can('create', 'lamps'), urls.filter((url) => url.includes('/access'))]).toEqual([false, []]);
  });

  it('reads in the document who calls an own operation of a record', async () => {
    const polish = { post: { 'x-access': { access: 'ADMIN' } } };
    const document = { paths: { '/api/lamps': {}, '/api/lamps/{id}/polish': polish } };
    const [ann, eve] = [
      await providerOf(shop.api, 'ann', { document }),
      await providerOf(shop.api, 'eve', { document }),
    ];
    expect([await ann('polish', 'lamps'), await eve('polish', 'lamps')]).toEqual([false, true]);
  });

  it('finds the endpoint in the document also for an authUrl with a slash at the end', async () => {
    const document = { paths: { '/api/auth/access': {} } };
    const can = await providerOf(shop.api, 'ann', { document, authUrl: `${shop.api}/auth/` });
    expect([await can('edit', 'lamps', own), await can('edit', 'purchases', foreign)]).toEqual([false, false]);
  });

  it('allows everything while the endpoint fails', async () => {
    const failing: typeof fetch = (input, init) =>
      String(input).includes('/access') ? Promise.reject(new TypeError('offline')) : fetch(input, init);
    const can = await providerOf(shop.api, 'ann', { fetch: failing });
    expect([await can('create', 'lamps'), await can('edit', 'purchases', foreign)]).toEqual([true, true]);
  });
});

it('says to react-admin which fields of relations are read, and which a form writes', async () => {
  const shop = await startShop('express');
  const auth = reactAdmin.authProvider(shop.api, recordedOptions(shop.api));
  await auth.login({ email: emailOf('sam'), password: PASSWORD });
  const read = (resource: string) => auth.canAccess({ action: 'read', resource });
  // An included relation, a field of it, and a resource without a field.
  expect([await read('lamps/:lampId/ratings.lamp.name'), await read('lamps/:lampId/ratings.shop')]).toEqual([
    true,
    false,
  ]);
  expect([await read('lamps'), await read('none')]).toEqual([true, false]);
  const write = (field: string, record?: object) =>
    auth.canAccess({ action: 'write', resource: `lamps.${field}`, ...(record && { record }) });
  expect([
    await write('name'),
    await write('name', { id: 1 }),
    await write('cost'),
    await write('cost', { id: 1 }),
  ]).toEqual([true, true, false, false]);
  await shop.close();
});
