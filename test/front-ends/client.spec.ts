/** The client with plain `fetch`. Its sessions are in `sessions.spec.ts`, for the providers too. */
import { type Client, createClient, Failure } from 'declarest-client';
import { sharedClient } from 'declarest-client/providers';
import { Column, DeleteDateColumn, Entity, PrimaryColumn, VersionColumn } from 'typeorm';
import { type CrudService, startCrud } from '../crud/service.js';
import { PLATFORMS } from '../harness/platforms.js';
import {
  Book,
  changingTags,
  type Library,
  Note,
  PASSWORD,
  recordedOptions,
  type RecordedOptions,
  startLibrary,
} from './admin-service.js';

interface One {
  readonly data: Book;
}

const failure = async (promise: Promise<unknown>): Promise<Failure> => {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Failure);
  return error as Failure;
};

let library: Library;
let options: RecordedOptions;
let client: Client;
const paths = (): string[] => options.sent.map(({ method, path }) => `${method} ${path}`);
const ifMatch = (): unknown[] => options.sent.map(({ headers }) => headers['If-Match']);

// The client cannot see the platform.
beforeAll(async () => {
  library = await startLibrary('fastify');
  await library.accounts.create({ email: 'ann@example.com', password: PASSWORD, role: 'ADMIN' });
});
afterAll(() => library.close());
beforeEach(async () => {
  options = recordedOptions(library.api);
  client = createClient(`${library.api}/`, options);
  await library.fill(Note, []);
  await library.fill(Book, [{ id: 1, title: 'Emma', price: 5 }]);
});

const login = () => client.login({ email: 'ann@example.com', password: PASSWORD });
const readEmma = async (): Promise<Book> => (await client.request<One>('GET', 'books/:id', { params: { id: 1 } })).data;

it('sends requests with the token of the login, and none after the logout', async () => {
  expect((await login()).data.user).toMatchObject({ email: 'ann@example.com' });
  expect(await client.user()).toMatchObject({ email: 'ann@example.com', role: 'ADMIN' });
  expect(await client.claims()).toEqual({ id: '1', roles: ['ADMIN'] });
  const token = await client.token();
  await client.request('GET', 'shelves');
  expect(options.sent.at(-1)?.headers).toEqual({ Authorization: `Bearer ${token}` });
  await client.logout();
  expect([await client.token(), await client.claims(), options.items.size]).toEqual([undefined, undefined, 0]);
  const refused = await failure(client.request('GET', 'shelves'));
  expect([refused.status, refused.message, refused.needsLogin]).toEqual([401, 'Authentication required', true]);
});

it('registers, and keeps the login after a wrong password', async () => {
  const user = { email: 'bob@example.com', password: PASSWORD };
  expect((await client.register(user)).data.user).toMatchObject({ email: 'bob@example.com' });
  const wrong = await failure(client.login({ ...user, password: 'wrong' }));
  expect([wrong.status, wrong.message, wrong.needsLogin]).toEqual([401, 'Invalid credentials', false]);
  expect(await client.claims()).toEqual({ id: '2', roles: ['USER'] });
  client.forget();
  expect(options.items.size).toBe(0);
});

it('writes query parameters, and the values of nested paths', async () => {
  await library.fill(Note, [{ id: 1, text: 'good', book: { id: 1 } }]);
  const query = { size: 1, sort: 'text', count: 'none' };
  const notes = await client.request<{ data: object[] }>('GET', 'books/:bookId/notes', {
    params: { bookId: 1 },
    query,
  });
  expect(notes.data).toEqual([{ id: 1, text: 'good', bookId: 1 }]);
  expect(paths()).toEqual(['GET /books/1/notes?size=1&sort=text&count=none']);
  const { status, message } = await failure(client.request('GET', 'books/:bookId/notes', { params: {} }));
  expect([status, message]).toEqual([
    400,
    'The resource "books/:bookId/notes" needs a value for bookId. Pass it as params: { bookId: … }.',
  ]);
});

it.each(['a/../b', '%2e%2e', '../..', '..\\x', 'a?b#c'])('keeps the id %j in its segment', async (id) => {
  await failure(client.request('GET', 'books/:id', { params: { id } }));
  expect(options.sent.length).toBe(1);
  const urls: string[] = [];
  const send = ((input) =>
    Promise.resolve(Response.json((urls.push(new URL(String(input)).pathname), {})))) as typeof fetch;
  await createClient('http://shop.example/api', { fetch: send }).request('GET', 'books/:id', { params: { id } });
  expect(urls).toEqual([`/api/books/${encodeURIComponent(id)}`]);
});

it.each(['', '.', '..', '\ud800'])('does not send the id %j, which leads to another URL', async (id) => {
  const { message } = await failure(client.request('GET', 'books/:id', { params: { id } }));
  expect(message).toBe(`An id of "books/:id" must not be ${JSON.stringify(id)}. Pass the id of a record.`);
  expect(options.sent).toEqual([]);
});

it.each(['../x', '/../x', '%2e%2e/x', '..\\x', 'a/..//../../x?y=1'])('does not send the path %j', async (path) => {
  const { message } = await failure(client.request('GET', path));
  expect(message).toMatch(/^The path ".*" must stay below the url of the client\. Leave out "\.\."\.$/);
  expect(options.sent).toEqual([]);
});

it('sends the ETag of the record that the user saw, and fails if somebody else has changed it', async () => {
  const emma = await readEmma();
  const change = (json: object, seen: Book) =>
    client.request<One>('PATCH', 'books/:id', { params: { id: 1 }, json, seen });
  const { data: changed } = await change({ price: 6 }, emma);
  const conflict = await failure(change({ price: 7 }, emma));
  expect([conflict.status, conflict.message]).toEqual([412, expect.stringContaining('does not match If-Match')]);
  // A page that was read since has another version.
  await readEmma();
  expect((await failure(change({ price: 7 }, emma))).status).toBe(412);
  await change({ price: 7 }, changed);
  expect(ifMatch()).toEqual([undefined, '"1"', '"1"', undefined, '"1"', '"2"']);
});

const weakened = (tag: string): string => `W/${tag}`;
const withSuffix =
  (suffix: string) =>
  (tag: string): string =>
    tag.replace(/"$/, `${suffix}"`);

it.each<[string, (tag: string) => string]>([
  ['W/"1"', weakened],
  ...['-gzip', '-br', '-zstd', '-deflate', '--gzip', ';gzip'].map((suffix): [string, (tag: string) => string] => [
    `"1${suffix}"`,
    withSuffix(suffix),
  ]),
  ['W/"1-br"', (tag) => weakened(withSuffix('-br')(tag))],
])('[8.5] sends the strong ETag where a proxy has made %s of it, and overwrites nothing', async (_, change) => {
  client = createClient(library.api, { ...options, fetch: changingTags(change, options.fetch) });
  const emma = await readEmma();
  const save = (price: number) =>
    client.request<One>('PATCH', 'books/:id', { params: { id: 1 }, json: { price }, seen: emma });
  await save(6);
  expect((await failure(save(7))).status).toBe(412);
  expect((await readEmma()).price).toBe(6);
  expect(ifMatch()).toEqual([undefined, '"1"', '"1"', undefined]);
});

it.each(['W/"x"', 'W/"1-lz4"', 'W/"1-gzip-gzip"', '1'])(
  '[8.5] sends no change where the ETag of the record has become %s',
  async (tag) => {
    client = createClient(library.api, { ...options, fetch: changingTags(() => tag, options.fetch) });
    const emma = await readEmma();
    const change = { params: { id: 1 }, seen: emma };
    const url = `${library.api}/books/1`;
    for (const promise of [
      client.request('PATCH', 'books/:id', { ...change, json: { price: 7 } }),
      client.request('DELETE', 'books/:id', change),
    ]) {
      const { status, message } = await failure(promise);
      expect([status, message]).toEqual([
        400,
        `The ETag of ${url} must be a strong one, got ${tag}, so the change cannot name the version that it is for. Let no proxy change the ETag.`,
      ]);
    }
    expect(paths()).toEqual(['GET /books/1']);
  },
);

it.each([
  'W/"eee3-vhKaB1+/S5YnnoG35W8q4Kr4e8A"',
  'W/"2a-vhKaB1+/S5YnnoG35W8q4Kr4e8A-gzip"',
  '"2a-vhKaB1+/S5YnnoG35W8q4Kr4e8A"',
])('takes %s, which Express makes of a body, for no version', async (tag) => {
  client = createClient(library.api, { ...options, fetch: changingTags(() => tag, options.fetch) });
  await client.request('PATCH', 'books/:id', { params: { id: 1 }, json: { price: 7 }, seen: await readEmma() });
  expect(ifMatch()).toEqual([undefined, undefined]);
});

it.each(['patch', 'Delete', 'query'])('sends the method %s in upper case, as servers demand it', async (method) => {
  await client.request(method, 'books/:id', { params: { id: 1 }, json: {} }).catch(() => undefined);
  expect(paths()).toEqual([`${method.toUpperCase()} /books/1`]);
});

it('knows the ETag of a record that it has created', async () => {
  const { data: dune } = await client.request<One>('POST', 'books', { json: { title: 'Dune' } });
  await client.request('DELETE', 'books/:id', { params: { id: dune.id }, seen: dune });
  expect(ifMatch()).toEqual([undefined, '"1"']);
});

@Entity()
class Country {
  @PrimaryColumn({ length: 20 }) code!: string;
  @Column({ length: 20 }) name!: string;
  @VersionColumn() version!: number;
  @DeleteDateColumn() deletedAt!: Date | null;
}

describe.each(PLATFORMS)('on %s', (platform) => {
  let service: CrudService;
  beforeAll(async () => {
    const resources = [{ entity: Country, endpoint: '/countries', enableRestore: true }];
    service = await startCrud(platform, { entities: [Country], resources });
  });
  afterAll(() => service.close());
  beforeEach(() => service.dataSource.getRepository(Country).clear());

  const AT = { code: 'A/T ä', name: 'Austria' };
  const params = { code: AT.code };
  const change = (by: Client, name: string, seen?: unknown) =>
    by.request('PATCH', 'countries/:code', { params, json: { name }, seen });

  it.each([
    ['created with a key of another name', (ann: Client) => ann.request<One>('POST', 'countries', { json: AT })],
    [
      'restored',
      async (ann: Client) => {
        await ann.request('POST', 'countries', { json: AT });
        await ann.request('DELETE', 'countries/:code', { params });
        return ann.request<One>('POST', 'countries/:code/restore', { params });
      },
    ],
  ])('knows the ETag of a record that it has %s', async (_, write) => {
    const [ann, bob] = [createClient(service.url), createClient(service.url)];
    const { data: seen } = await write(ann);
    await change(bob, 'by bob');
    expect((await failure(change(ann, 'by ann', seen))).status).toBe(412);
  });
});

it('throws failures with the status, the message and the messages of fields', async () => {
  const { status, message, fields } = await failure(client.request('POST', 'books', { json: { price: 'cheap' } }));
  expect([status, message]).toEqual([400, 'Book is not valid']);
  expect(fields).toEqual({ price: 'must be a number, got "cheap"', title: 'is required' });
  const missing = await failure(client.request('GET', 'nothing'));
  expect([missing.status, missing.message, missing.fields]).toEqual([404, 'Cannot GET /api/nothing', {}]);
});

it('says why there is no answer', async () => {
  const fails = async (answer: () => Promise<Response>): Promise<unknown[]> => {
    const { status, message } = await failure(createClient('/api', { fetch: answer }).request('GET', 'books'));
    return [status, message];
  };
  expect(await fails(() => Promise.reject(new TypeError('Failed to fetch')))).toEqual([
    0,
    'There is no answer from /api/books for "books" (Failed to fetch). Check that the server runs, and that its CORS settings allow this page.',
  ]);
  const html = { headers: { 'Content-Type': 'text/html' } };
  for (const [status, advice] of [
    [502, 'Check that the server behind it runs, and try again later.'],
    [503, 'Check that the server behind it runs, and try again later.'],
    [413, 'Check its limit for bodies.'],
    [429, 'Try again later.'],
  ] as const)
    expect(await fails(async () => new Response('<html>', { ...html, status }))).toEqual([
      status,
      `A proxy answered for /api/books ("books") with status ${status} and a page in HTML. ${advice}`,
    ]);
  // Caddy sends no body, and http-proxy a text.
  for (const body of [null, 'Error occurred while trying to proxy'])
    expect(await fails(async () => new Response(body, { status: 504 }))).toEqual([
      504,
      'A proxy answered with status 504, because the server behind it does not answer. Try again later.',
    ]);
  expect(await fails(async () => new Response('<html>', html))).toEqual([
    200,
    'The answer from /api/books for "books" must be JSON, got HTML. Check the url of the client.',
  ]);
});

it.each([204, 200])(
  'throws a failure where an answer with the status %d is not one of the accounts',
  async (status) => {
    const body = status === 204 ? null : '{"ok":true}';
    const fetch = async (): Promise<Response> => new Response(body, { status });
    const other = createClient('https://shop.example/api', { fetch });
    const at = 'https://shop.example/id';
    for (const [path, call] of [
      ['login', other.login({}, at)],
      ['register', other.register({}, `${at}/`)],
      ['me', other.user(at)],
      ['passkeys/login/options', other.loginByPasskey(at)],
    ] as const) {
      const { status: given, message } = await failure(call);
      const expected = `The answer from ${at}/${path} for "auth" must be an object with "data". Check authUrl.`;
      expect([given, message]).toEqual([status, expected]);
    }
  },
);

it('throws a failure where a refresh is answered without tokens', async () => {
  const { storage } = options;
  const fetch = async (url: unknown): Promise<Response> =>
    String(url).endsWith('/login')
      ? Response.json({ data: { token: 'a.b.c', refreshToken: 'x', expiresIn: 0 } })
      : new Response(null, { status: 204 });
  const other = createClient('https://shop.example/api', { fetch: fetch as typeof globalThis.fetch, storage });
  await other.login({});
  expect((await failure(other.request('GET', 'books'))).message).toContain(
    '/auth/refresh for "auth" must be an object',
  );
});

it('does not send a body that JSON cannot hold', async () => {
  const { status, message } = await failure(client.request('POST', 'books', { json: { price: 5n } }));
  expect([status, message]).toEqual([
    400,
    'The body for "books" must be JSON (Do not know how to serialize a BigInt). Send a bigint as text.',
  ]);
  expect(options.sent).toEqual([]);
});

it('has a login of its own without a storage; providers of one url share theirs', async () => {
  const [own, other] = [createClient(library.api), createClient(library.api)];
  await own.login({ email: 'ann@example.com', password: PASSWORD });
  expect([await own.claims(), await other.claims()]).toEqual([{ id: '1', roles: ['ADMIN'] }, undefined]);
  const { fetch, storage } = options;
  const shared = sharedClient(library.api, {});
  expect(sharedClient(`${library.api}/`, {})).toBe(shared);
  expect(sharedClient(library.api, { fetch, storage })).toBe(sharedClient(library.api, { fetch, storage }));
  for (const different of [{ fetch }, { storage }, { fetch, storage: { ...storage } }])
    expect(sharedClient(library.api, different)).not.toBe(shared);
  // Also without localStorage.
  await shared.login({ email: 'ann@example.com', password: PASSWORD });
  expect(await sharedClient(library.api, { fetch }).claims()).toEqual({ id: '1', roles: ['ADMIN'] });
  await shared.logout();
});
