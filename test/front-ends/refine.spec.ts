/** The providers of refine against a real service, and through the hooks of refine itself. */
import type { BaseRecord, CrudFilter, HttpError } from '@refinedev/core';
import { createElement as h, type FunctionComponent, type ReactNode } from 'react';
import { authProvider, dataProvider, type DeclarestDataProvider } from 'refine-declarest';
import { PLATFORMS } from '../harness/platforms.js';
import { claims, makeToken } from '../harness/tokens.js';
import {
  Book,
  changingTags,
  Contract,
  Country,
  Entry,
  Label,
  type Library,
  Note,
  PASSWORD,
  recordedOptions,
  type SentRequest,
  Shelf,
  startLibrary,
} from './admin-service.js';
import { type Dom, type Page, startDom } from './dom.js';

const dom: Dom = await startDom();
const refine = await import('@refinedev/core');
afterAll(() => dom.close());

const NOTES = 'books/:bookId/notes';

const failure = (promise: Promise<unknown>): Promise<HttpError> =>
  promise.then(
    () => {
      throw new Error('The call was expected to fail.');
    },
    (error: HttpError) => error,
  );

/** Paths that a URL parser resolves to one outside of the base. */
const OUTSIDE = ['../x', '..', 'a/../../x', '/../../x', '%2e%2e/x', '.%2E/x', '..\\x', '.\t./x', 'a/..//../../x?y=1'];

describe.each(PLATFORMS)('refine on %s', (platform) => {
  let library: Library;
  let sent: SentRequest[];
  let items: Map<string, string>;
  let data: DeclarestDataProvider;
  let auth: ReturnType<typeof authProvider>;

  beforeAll(async () => {
    library = await startLibrary(platform);
    await library.accounts.create({ email: 'ann@example.com', password: PASSWORD, role: 'ADMIN', firstName: 'Ann' });
  });
  afterAll(() => library.close());
  beforeEach(async () => {
    const { sent: recorded, items: stored, ...options } = recordedOptions(library.api);
    [sent, items] = [recorded, stored];
    data = dataProvider(library.api, options);
    auth = authProvider(library.api, options);
    await library.fill(Note, []);
    await library.fill(Book, []);
    await library.fill(Shelf, [{ id: 1, name: 'Poems' }]);
    await library.fill(Book, [
      { id: 1, title: 'Emma', price: 5, shelf: { id: 1 } },
      { id: 2, title: 'Dune, part one', price: 15, subtitle: 'A novel' },
      { id: 3, title: 'Cats', price: 25 },
    ]);
  });

  const paths = (): string[] => sent.map(({ method, path }) => `${method} ${path}`);
  const last = (): SentRequest | undefined => sent.at(-1);

  describe('getList', () => {
    const idsOf = async (...filters: CrudFilter[]): Promise<unknown[]> =>
      (await data.getList({ resource: 'books', filters, sorters: [{ field: 'id', order: 'asc' }] })).data.map(
        ({ id }) => id,
      );

    it('reads a page in an order, with the total', async () => {
      const page = { currentPage: 2, pageSize: 2 };
      const sorters = [{ field: 'price', order: 'desc' as const }];
      const answer = await data.getList({ resource: 'books', pagination: page, sorters });
      expect([answer.data.map(({ id }) => id), answer.total]).toEqual([[1], 3]);
      expect(paths()).toEqual(['GET /books?sort=-price&page=2&size=2']);
    });

    it.each([
      ['eq', 'title', 'Emma', [1]],
      ['ne', 'title', 'Emma', [2, 3]],
      ['lt', 'price', 15, [1]],
      ['lte', 'price', 15, [1, 2]],
      ['gt', 'price', 15, [3]],
      ['gte', 'price', 15, [2, 3]],
      ['in', 'title', ['Emma', 'Dune, part one'], [1, 2]],
      ['nin', 'title', ['Emma', 'Dune, part one'], [3]],
      ['contains', 'title', 'EMM', [1]],
      ['ncontains', 'title', 'EMM', [2, 3]],
      ['containss', 'title', 'EMM', []],
      ['ncontainss', 'title', 'Emm', [2, 3]],
      ['startswiths', 'title', 'Em', [1]],
      ['nstartswiths', 'title', 'Em', [2, 3]],
      ['endswiths', 'title', 'ats', [3]],
      ['nendswiths', 'title', 'ats', [1, 2]],
      ['between', 'price', [5, 15], [1, 2]],
      ['nbetween', 'price', [5, 15], [3]],
      ['null', 'subtitle', true, [1, 3]],
      ['nnull', 'subtitle', true, [2]],
    ] as const)('finds the records of the operator %s', async (operator, field, value, ids) => {
      expect(await idsOf({ field, operator, value: Array.isArray(value) ? [...value] : value })).toEqual(ids);
    });

    it('finds the records of groups, and of columns of related records', async () => {
      const emma: CrudFilter = { field: 'title', operator: 'eq', value: 'Emma' };
      const dear: CrudFilter = { field: 'price', operator: 'gt', value: 20 };
      expect(await idsOf({ operator: 'or', value: [emma, dear] })).toEqual([1, 3]);
      expect(await idsOf({ operator: 'or', value: [{ operator: 'and', value: [emma, dear] }, dear] })).toEqual([3]);
      expect(
        await idsOf({ operator: 'or', value: [emma, dear] }, { field: 'price', operator: 'lt', value: 9 }),
      ).toEqual([1]);
      expect(await idsOf({ field: 'shelf.name', operator: 'eq', value: 'Poems' })).toEqual([1]);
    });

    it.each(['startswith', 'ina', 'nina', 'endswith', 'nstartswith', 'nendswith'] as const)(
      'refuses the operator %s by its name, without a request',
      async (operator) => {
        const { message } = await failure(idsOf({ field: 'title', operator, value: ['a'] }));
        expect(message).toContain(`The filter operator "${operator}" on "books" has no equivalent on the server.`);
        expect(sent).toEqual([]);
      },
    );

    it('includes relations, and reads some fields', async () => {
      const meta = { include: ['shelf'], fields: ['title'] };
      const filters: CrudFilter[] = [{ field: 'id', operator: 'eq', value: 1 }];
      const answer = await data.getList({ resource: 'books', filters, meta });
      expect(answer.data).toEqual([
        { id: 1, title: 'Emma', shelf: expect.objectContaining({ name: 'Poems' }) as unknown },
      ]);
    });

    it('reads whole lists: those without pages, and all pages of others', async () => {
      await library.fill(Country, [{ id: 1, name: 'Peru' }]);
      await library.fill(
        Label,
        Array.from({ length: 120 }, (_, index) => ({ id: index + 1, name: 'a' })),
      );
      const off = { mode: 'off' } as const;
      expect((await data.getList({ resource: 'countries', pagination: off })).data).toEqual([{ id: 1, name: 'Peru' }]);
      const labels = await data.getList({ resource: 'labels', pagination: off });
      expect([labels.data.length, labels.total]).toEqual([120, 120]);
    });

    it('reads a nested resource below the record of meta or of a filter', async () => {
      await library.fill(Note, [
        { id: 1, text: 'good', book: { id: 1 } },
        { id: 2, text: 'long', book: { id: 2 } },
      ]);
      const texts = async (params: object): Promise<unknown[]> =>
        (await data.getList({ resource: NOTES, ...params })).data.map(({ text }) => text as string);
      expect(await texts({ meta: { bookId: 1 } })).toEqual(['good']);
      expect(await texts({ filters: [{ field: 'bookId', operator: 'eq', value: 2 }] })).toEqual(['long']);
      expect((await failure(texts({}))).message).toContain(
        `The resource "${NOTES}" needs a value for bookId. Pass meta: { bookId: … }`,
      );
    });

    it('says what is wrong with a list that it cannot page, or that the server lacks', async () => {
      await library.fill(Entry, [{ id: 1, name: 'a' }]);
      const message = async (resource: string): Promise<string> => (await failure(data.getList({ resource }))).message;
      for (const resource of ['countries', 'entries', 'own/list'])
        expect(await message(resource)).toContain(`The list "${resource}" has no numbered pages.`);
      expect(await message('nowhere')).toContain('The server has no route GET');
      expect((await failure(data.getList({ resource: 'books', pagination: { pageSize: 101 } }))).message).toContain(
        'pageSize of "books" must be at most 100, got 101.',
      );
      const away = dataProvider('http://127.0.0.1:1/api');
      expect(await failure(away.getList({ resource: 'books' }))).toMatchObject({
        statusCode: 0,
        message: expect.stringMatching(
          /^There is no answer from http:\/\/127.0.0.1:1\/api\/books for "books" \(/,
        ) as unknown,
      });
      const page = (async () => new Response('<p>', { headers: { 'content-type': 'text/html' } })) as typeof fetch;
      const html = dataProvider(library.api, { fetch: page });
      expect((await failure(html.getList({ resource: 'books' }))).message).toBe(
        `The answer from ${library.api}/books for "books" must be JSON, got HTML. Check the url of the provider.`,
      );
    });

    it('aborts with the signal of the query', async () => {
      const aborter = new AbortController();
      aborter.abort();
      const { name } = (await failure(
        data.getList({ resource: 'books', meta: { signal: aborter.signal } as never }),
      )) as unknown as Error;
      expect(name).toBe('AbortError');
    });
  });

  describe('one record', () => {
    it('reads, creates, changes and deletes it', async () => {
      const created = await data.create<BaseRecord>({ resource: 'books', variables: { title: 'New' } });
      const id = created.data.id!;
      expect((await data.getOne({ resource: 'books', id })).data).toMatchObject({ title: 'New', price: 10 });
      await data.update({ resource: 'books', id, variables: { price: 11 } });
      expect(last()).toMatchObject({ method: 'PATCH', body: { price: 11 } });
      expect((await data.getOne({ resource: 'books', id })).data).toMatchObject({ title: 'New', price: 11 });
      await data.deleteOne({ resource: 'books', id });
      expect((await failure(data.getOne({ resource: 'books', id }))).statusCode).toBe(404);
    });

    it('sends the strong ETag of the version that was read, and shows a conflict', async () => {
      await data.getOne({ resource: 'books', id: 1 });
      const other = dataProvider(library.api);
      await other.update({ resource: 'books', id: 1, variables: { title: 'By Bob' } });
      // A link could have the parameter `ifMatch=*`, which refine adds to `meta`.
      const meta = { ifMatch: '*' };
      const error = await failure(data.update({ resource: 'books', id: 1, variables: { title: 'By Ann' }, meta }));
      expect(last()?.headers['If-Match']).toBe('"1"');
      expect(error).toMatchObject({
        statusCode: 412,
        message: 'A record of "books" has changed since it was read. Load it again and repeat the change.',
      });
      expect((await other.getOne({ resource: 'books', id: 1 })).data['title']).toBe('By Bob');
      await data.update({ resource: 'books', id: 1, variables: { title: 'By Ann' }, meta: { ifMatch: false } });
      expect(last()?.headers).not.toHaveProperty('If-Match');
    });

    it('compares the form with the change of somebody else, and makes the choice of the user', async () => {
      const { data: before } = await data.getOne({ resource: 'books', id: 1 });
      await dataProvider(library.api).update({ resource: 'books', id: 1, variables: { title: 'By Bob' } });
      const params = { resource: 'books', id: 1, variables: { title: 'By Ann' } };
      expect((await failure(data.update(params))).statusCode).toBe(412);
      const { current, fields } = await data.readConflict({ ...params, before });
      expect(current).toMatchObject({ title: 'By Bob' });
      expect(fields).toEqual([
        { name: 'title', before: before['title'], mine: 'By Ann', theirs: 'By Bob', isMine: true },
        { name: 'version', before: 1, mine: 1, theirs: 2, isMine: false },
      ]);
      await data.update(params);
      expect(last()).toMatchObject({ headers: { 'If-Match': '"2"' }, body: { title: 'By Ann' } });
    });

    it.each<[string, (tag: string) => string]>([
      ['weakens', (tag) => `W/${tag}`],
      ['lengthens', (tag) => tag.replace(/"$/, '-br"')],
    ])('[8.5] overwrites nothing behind a proxy that %s the ETag', async (_, change) => {
      const ann = dataProvider(library.api, { fetch: changingTags(change) });
      await ann.getOne({ resource: 'books', id: 1 });
      await dataProvider(library.api).update({ resource: 'books', id: 1, variables: { title: 'By Bob' } });
      const stale = ann.update({ resource: 'books', id: 1, variables: { title: 'By Ann' } });
      expect((await failure(stale)).statusCode).toBe(412);
      expect((await ann.getOne({ resource: 'books', id: 1 })).data['title']).toBe('By Bob');
      await ann.update({ resource: 'books', id: 1, variables: { title: 'By Ann' } });
      await ann.deleteOne({ resource: 'books', id: 1 });
    });

    it('[8.5] sends no change where a proxy has made another tag of the ETag', async () => {
      const ann = dataProvider(library.api, { fetch: changingTags(() => 'W/"x"') });
      await ann.getOne({ resource: 'books', id: 1 });
      for (const change of [
        ann.update({ resource: 'books', id: 1, variables: { title: 'By Ann' } }),
        ann.deleteOne({ resource: 'books', id: 1 }),
      ])
        expect(await failure(change)).toMatchObject({
          statusCode: 400,
          message: expect.stringContaining('must be a strong one, got W/"x", so the change cannot') as unknown,
        });
      expect((await ann.getOne({ resource: 'books', id: 1 })).data).toMatchObject({ title: 'Emma', version: 1 });
    });

    it('sends no weak ETag', async () => {
      await library.fill(Label, [{ id: 1, name: 'a' }]);
      await data.getOne({ resource: 'labels', id: 1 });
      await data.update({ resource: 'labels', id: 1, variables: { name: 'b' } });
      expect(last()?.headers).not.toHaveProperty('If-Match');
    });

    it('reads, and deletes for good, what is deleted', async () => {
      await auth.login({ email: 'ann@example.com', password: PASSWORD });
      const record = { resource: 'books', id: 1 };
      await data.deleteOne({ ...record, meta: { purge: 'true' } });
      expect((await failure(data.getOne(record))).statusCode).toBe(404);
      const hidden = { ...record, meta: { deleted: 'only' } };
      expect((await data.getOne(hidden)).data).toMatchObject({
        title: 'Emma',
        deletedAt: expect.any(String) as unknown,
      });
      await data.deleteOne({ ...record, meta: { purge: true } });
      expect(await failure(data.getOne(hidden))).toMatchObject({ statusCode: 404 });
    });

    it('gives the failures of fields', async () => {
      const error = await failure(data.create({ resource: 'books', variables: { title: 7, price: 'cheap' } }));
      expect(error).toMatchObject({
        statusCode: 400,
        errors: { price: 'must be a number, got "cheap"', title: expect.any(String) as unknown },
      });
    });
  });

  describe('many records', () => {
    it('reads them with one request', async () => {
      const answer = await data.getMany({ resource: 'books', ids: [1, 3, 99] });
      expect(answer.data.map(({ id }) => id)).toEqual([1, 3]);
      expect(sent.length).toBe(1);
    });

    it('reads them one by one where the server does not filter by id, and tries that once', async () => {
      await library.fill(Label, [
        { id: 1, name: 'a' },
        { id: 2, name: 'b' },
      ]);
      for (const count of [3, 2]) {
        sent.length = 0;
        const answer = await data.getMany({ resource: 'labels', ids: [1, 2] });
        expect([answer.data.length, sent.length]).toEqual([2, count]);
      }
    });

    it('creates, changes and deletes them by batches', async () => {
      const created = await data.createMany({ resource: 'books', variables: [{ title: 'a' }, { title: 'b' }] });
      const ids = created.data.map(({ id }) => id!);
      const changed = await data.updateMany({ resource: 'books', ids, variables: { price: 1 } });
      expect(changed.data.map(({ price }) => price as number)).toEqual([1, 1]);
      await data.deleteMany({ resource: 'books', ids });
      expect(paths()).toEqual(['POST /books/batch', 'PATCH /books/batch', `DELETE /books/batch?ids=${ids.join()}`]);
      expect((await data.getMany({ resource: 'books', ids })).data).toEqual([]);
    });

    it('changes records of which the server requires a version', async () => {
      await library.fill(Contract, [{ id: 1, name: 'a' }]);
      await data.updateMany({ resource: 'contracts', ids: [1], variables: { name: 'b' } });
      expect((await data.getOne({ resource: 'contracts', id: 1 })).data['name']).toBe('b');
    });

    it('writes them one by one where the resource has no batch, and tries that once', async () => {
      await library.fill(Label, []);
      await data.createMany({ resource: 'labels', variables: [{ name: 'a' }, { name: 'b' }] });
      expect(paths()).toEqual(['POST /labels/batch', 'POST /labels', 'POST /labels']);
      const { data: labels } = await data.getList({ resource: 'labels' });
      const ids = labels.map(({ id }) => id!);
      sent.length = 0;
      await data.updateMany({ resource: 'labels', ids, variables: { name: 'c' } });
      await data.deleteMany({ resource: 'labels', ids });
      expect(sent.map(({ method }) => method)).toEqual(['PATCH', 'PATCH', 'DELETE', 'DELETE']);
      expect((await data.getList({ resource: 'labels' })).total).toBe(0);
    });

    it.each(['updateMany', 'deleteMany'] as const)('finds out by %s that there is no batch', async (method) => {
      await library.fill(Label, [{ id: 1, name: 'a' }]);
      await data[method]({ resource: 'labels', ids: [1], variables: { name: 'c' } });
      expect(sent.length).toBe(2);
    });

    it('fails for a record that does not exist, without a second attempt', async () => {
      const error = await failure(data.updateMany({ resource: 'books', ids: [1, 99], variables: { price: 1 } }));
      expect([error.statusCode, error.message, sent.length]).toEqual([404, 'Book with id 99 not found', 1]);
      expect((await data.getOne({ resource: 'books', id: 1 })).data['price']).toBe(5);
    });
  });

  it('calls other endpoints, with the token for its own server only', async () => {
    await auth.login({ email: 'ann@example.com', password: PASSWORD });
    const answer = await data.custom({
      url: 'books/count',
      method: 'get',
      filters: [{ field: 'price', operator: 'gt', value: 9 }],
    });
    expect(answer.data).toMatchObject({ data: { count: 2 } });
    expect(last()?.headers['Authorization']).toMatch(/^Bearer /);
    await data.custom({ url: 'own/echo', method: 'post', payload: { a: 1 } });
    expect(last()).toMatchObject({ method: 'POST', body: { a: 1 } });
    const elsewhere = library.api.replace('127.0.0.1', 'localhost');
    await data.custom({ url: `${elsewhere}/books`, method: 'get' });
    expect(last()?.headers).not.toHaveProperty('Authorization');
    expect(data.getApiUrl()).toBe(library.api);
  });

  it.each(OUTSIDE)('does not send a request to the path %j, which leads out of the url', async (path) => {
    const calls = [
      () => data.custom({ url: path, method: 'get' }),
      () => data.custom({ url: `${library.api}/${path}`, method: 'get' }),
      () => data.getOne({ resource: path, id: 1 }),
      () => data.export(path),
    ];
    for (const call of calls)
      expect((await failure(call())).message).toMatch(/^The path ".*" must stay below the url of the provider\. /);
    expect(sent).toEqual([]);
  });

  it('does not send an id that cannot be encoded', async () => {
    const { message } = await failure(data.getOne({ resource: 'books', id: '\ud800' }));
    expect(message).toContain('Pass the id of a record.');
  });

  it('downloads the export of the server', async () => {
    const filters: CrudFilter[] = [{ field: 'price', operator: 'gte', value: 15 }];
    const response = await data.export('books', { filters, sorters: [{ field: 'price', order: 'desc' }] });
    expect(response.headers.get('content-type')).toContain('text/csv');
    expect((await response.text()).split('\r\n').map((line) => line.split(',')[0])).toEqual(['id', '3', '2', '']);
    expect((await failure(data.export('labels'))).statusCode).toBe(404);
  });

  describe('authProvider', () => {
    it('logs in and out, and knows the user and the roles', async () => {
      expect(await auth.check()).toEqual({ authenticated: false, logout: true, redirectTo: '/login' });
      expect(await auth.getIdentity()).toBe(null);
      expect(await auth.login({ email: 'ann@example.com', password: PASSWORD, remember: true })).toEqual({
        success: true,
        redirectTo: '/',
      });
      expect(last()?.body).toEqual({ email: 'ann@example.com', password: PASSWORD });
      expect(await auth.check()).toEqual({ authenticated: true });
      expect(await auth.getIdentity()).toMatchObject({ email: 'ann@example.com', name: 'Ann', role: 'ADMIN' });
      expect(await auth.getPermissions()).toEqual(['ADMIN']);
      expect(await auth.logout({})).toEqual({ success: true, redirectTo: '/login' });
      expect([await auth.getPermissions(), items.size]).toEqual([[], 0]);
    });

    it('registers, and says why a login or a registration fails', async () => {
      const user = { email: `bob-${platform}@example.com`, password: PASSWORD };
      expect(await auth.register(user)).toEqual({ success: true, redirectTo: '/' });
      const again = await auth.register(user);
      expect(again).toMatchObject({
        success: false,
        error: { message: `User with email ${user.email} already exists` },
      });
      const login = await auth.login({ ...user, password: 'a wrong password' });
      expect(login).toMatchObject({
        success: false,
        error: { name: 'Login failed', message: 'Invalid credentials', statusCode: 401 },
      });
    });

    it('asks for a login after an expired token and after a 401, and not after a 403', async () => {
      await auth.login({ email: 'ann@example.com', password: PASSWORD });
      const [key] = items.keys();
      items.set(key!, makeToken({ payload: claims({ exp: Math.floor(Date.now() / 1000) - 1 }) }));
      // A page that is opened now asks for a login; this one keeps its form until it logs out.
      const opened = authProvider(library.api, {
        storage: { getItem: (name) => items.get(name) ?? null, setItem: () => undefined, removeItem: () => undefined },
      });
      expect(await opened.check()).toMatchObject({ authenticated: false, logout: true, redirectTo: '/login' });
      expect(await auth.check()).toEqual({ authenticated: true });
      const error = await failure(data.getList({ resource: 'shelves' }));
      expect(await auth.onError(error)).toMatchObject({ logout: true, redirectTo: '/login' });
      expect(await auth.onError({ statusCode: 403, message: 'Admin access required' })).toEqual({});
    });
  });

  describe('in a page', () => {
    let page: Page | undefined;
    afterEach(() => page?.close());

    const open = async (content: FunctionComponent): Promise<Page> => {
      const options = {
        disableTelemetry: true,
        reactQuery: { clientConfig: { defaultOptions: { queries: { retry: false } } } },
      };
      const children: ReactNode = h(content);
      page = await dom.render(
        h(refine.Refine, { dataProvider: data, authProvider: auth, resources: [{ name: 'books' }], options, children }),
      );
      return page;
    };

    it('lists records, and reads their references with one request', async () => {
      await auth.login({ email: 'ann@example.com', password: PASSWORD });
      sent.length = 0;
      const Books = () => {
        const { result } = refine.useList({ resource: 'books', sorters: [{ field: 'price', order: 'asc' }] });
        const ids = result.data.flatMap(({ shelfId }) => (typeof shelfId === 'number' ? [shelfId] : []));
        const { result: shelves } = refine.useMany({
          resource: 'shelves',
          ids,
          queryOptions: { enabled: ids.length > 0 },
        });
        return h('p', null, `${result.total} ${shelves.data.map(({ name }) => String(name)).join()}`);
      };
      const { until, text } = await open(Books);
      await until(() => expect(text()).toBe('3 Poems'));
      expect(paths()).toEqual(['GET /books?sort=price&page=1&size=10', 'GET /shelves?filter[id][in]=1']);
    });

    it('continues an infinite list with cursors, and refuses a table of them', async () => {
      const rows = Array.from({ length: 5 }, (_, index) => ({ id: index + 1, name: `e${index + 1}` }));
      await library.fill(Entry, rows);
      sent.length = 0;
      const Entries = () => {
        const { result, query } = refine.useInfiniteList({ resource: 'entries', pagination: { pageSize: 2 } });
        const names = result.data?.pages.flatMap((each) => each.data.map(({ name }) => String(name))) ?? [];
        return h('button', { onClick: () => void query.fetchNextPage() }, `${names.join()} ${result.hasNextPage}`);
      };
      const { until, click, text } = await open(Entries);
      await until(() => expect(text()).toBe('e1,e2 true'));
      await click('button');
      await until(() => expect(text()).toBe('e1,e2,e3,e4 true'));
      await click('button');
      await until(() => expect(text()).toBe('e1,e2,e3,e4,e5 false'));
      expect(paths().map((path) => path.replace(/after=.+/, 'after=…'))).toEqual([
        'GET /entries?page=1&size=2',
        'GET /entries?size=2',
        'GET /entries?size=2&after=…',
        'GET /entries?size=2&after=…',
      ]);
      expect((await failure(data.getList({ resource: 'entries' }))).message).toContain('has no numbered pages');
    });

    it('saves a form with the ETag that it has read, and keeps the failures of its fields', async () => {
      const Editor = () => {
        const { onFinish, query, mutation } = refine.useForm({
          resource: 'books',
          action: 'edit',
          id: 1,
          redirect: false,
        });
        const save = (price: unknown) => () => void onFinish({ price }).catch(() => undefined);
        const errors = (mutation.error as HttpError | null)?.errors ?? {};
        return h(
          'div',
          null,
          h('i', null, String(query?.data?.data['title'])),
          h('button', { id: 'good', onClick: save(6) }),
          h('button', { id: 'bad', onClick: save('cheap') }),
          h('b', null, mutation.isSuccess ? 'saved' : JSON.stringify(errors)),
        );
      };
      const { until, click, find } = await open(Editor);
      await until(() => expect(find('i').textContent).toBe('Emma'));
      await click('#bad');
      await until(() => expect(find('b').textContent).toBe('{"price":"must be a number, got \\"cheap\\""}'));
      await click('#good');
      await until(() => expect(find('b').textContent).toBe('saved'));
      const saved = sent.filter(({ method }) => method === 'PATCH').at(-1);
      expect(saved).toMatchObject({ headers: { 'If-Match': '"1"' }, body: { price: 6 } });
    });

    it('knows the roles, and logs out after a 401', async () => {
      await auth.login({ email: 'ann@example.com', password: PASSWORD });
      const User = () => {
        const { data: roles } = refine.usePermissions<string[]>({});
        const { refetch } = refine.useList({ resource: 'shelves', queryOptions: { enabled: false } }).query;
        return h('button', { onClick: () => void refetch() }, roles?.join());
      };
      const { until, click, text } = await open(User);
      await until(() => expect(text()).toBe('ADMIN'));
      const [key] = items.keys();
      items.set(key!, 'a.b.c');
      await click('button');
      await until(() => expect(items.size).toBe(0));
    });
  });
});
