import { LoginMethod } from 'declarest';
import type { HttpError, RaRecord } from 'ra-core';
import { authProvider, dataProvider } from 'ra-data-declarest';
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
  type Providers,
  providersFor,
  recordedOptions,
  Shelf,
  startLibrary,
  Tag,
} from './admin-service.js';

const BY_TITLE = { field: 'title', order: 'ASC' } as const;
const BY_ID = { field: 'id', order: 'ASC' } as const;
const PAGE = { page: 1, perPage: 25 };
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

describe.each(PLATFORMS)('react-admin on %s', (platform) => {
  let library: Library;
  let providers: Providers;
  const ifMatch = (): unknown[] => providers.sent.map(({ method, headers }) => [method, headers['If-Match']]);
  const paths = (): string[] => providers.sent.map(({ method, path }) => `${method} ${path}`);
  const ids = (answer: { data: readonly { id: unknown }[] }): unknown[] => answer.data.map(({ id }) => id);

  beforeAll(async () => {
    library = await startLibrary(platform);
    await library.accounts.create({ email: 'ann@example.com', password: PASSWORD, role: 'ADMIN', firstName: 'Ann' });
  });
  afterAll(() => library.close());
  beforeEach(async () => {
    providers = providersFor(library.api);
    await library.fill(Note, []);
    await library.fill(Book, [
      { id: 1, title: 'Emma', price: 5, shelf: null },
      { id: 2, title: 'Dune, part one', price: 15, subtitle: 'A novel' },
      { id: 3, title: 'Cats', price: 25 },
    ]);
  });

  describe('getList', () => {
    const titles = async (filter: object): Promise<unknown[]> => {
      const { data } = await providers.data.getList<Book>('books', { pagination: PAGE, sort: BY_ID, filter });
      return data.map(({ id }) => id);
    };

    it('reads a page in an order, with the total', async () => {
      const page = {
        pagination: { page: 2, perPage: 2 },
        sort: { field: 'price', order: 'DESC' as const },
        filter: {},
      };
      const answer = await providers.data.getList('books', page);
      expect([ids(answer), answer.total]).toEqual([[1], 3]);
      expect(paths()).toEqual(['GET /books?sort=-price&page=2&size=2']);
    });

    it('finds the records of every operator', async () => {
      await library.fill(Shelf, [{ id: 1, name: 'Poems' }]);
      await library.fill(Book, [
        { id: 1, title: 'Emma', price: 5, shelf: { id: 1 } },
        { id: 2, title: 'Dune, part one', price: 15, subtitle: 'A novel' },
        { id: 3, title: 'Cats', price: 25 },
      ]);
      const cases: [object, number[]][] = [
        [{ title: 'Cats' }, [3]],
        [{ title_eq: 'Cats' }, [3]],
        [{ price_ne: 15 }, [1, 3]],
        [{ price_gt: 15 }, [3]],
        [{ price_gte: 15 }, [2, 3]],
        [{ price_lt: 15 }, [1]],
        [{ price_lte: 15 }, [1, 2]],
        [{ price: { gte: 10, lt: 20 } }, [2]],
        [{ title: ['Cats', 'Dune, part one'] }, [2, 3]],
        [{ title_in: ['Dune, part one'] }, [2]],
        [{ title_in: 'Dune, part one' }, [2]],
        [{ title_nin: ['Dune, part one', 'Cats'] }, [1]],
        [{ title_nin: [] }, [1, 2, 3]],
        [{ price_between: [5, 15] }, [1, 2]],
        [{ title_contains: 'at' }, [3]],
        [{ title_icontains: 'DUNE' }, [2]],
        [{ title_startsWith: 'E' }, [1]],
        [{ title_endsWith: 'one' }, [2]],
        [{ subtitle_isNull: false }, [2]],
        [{ subtitle: null }, [1, 3]],
        [{ subtitle_ne: null }, [2]],
        [{ 'shelf.name': 'Poems' }, [1]],
        [{ shelf: { name: 'Poems' } }, [1]],
        [{ shelf: { name_startsWith: 'Q' } }, []],
        [{ or: [{ price_lt: 10 }, { title: { eq: 'Cats' } }] }, [1, 3]],
        [{ and: [{ price_lt: 20 }, { not: { title: 'Emma' } }] }, [2]],
        [{ title: '', price_gt: undefined, price_lt: null }, [1, 2, 3]],
        [{ q: 'CAT' }, [3]],
        [{ q: 'a', price_lt: 20 }, [1, 2]],
        [{ q: ' ' }, [1, 2, 3]],
      ];
      const found = [];
      for (const [filter] of cases) found.push([filter, await titles(filter)]);
      expect(found).toEqual(cases);
    });

    it.each([
      [{ title: [] }, 'The filter "title" of "books" must have values, got an empty array. Leave the filter out.'],
      [{ price_gt: [1, 2] }, 'The filter "price" of "books" must have one value for "gt", got [1,2].'],
      [{ colour: 'red' }, 'filter[colour][eq] unknown field'],
    ])('refuses the filter %j', async (filter, message) => {
      const error = await failure(titles(filter));
      expect([error.status, error.message]).toEqual([400, expect.stringContaining(message)]);
    });

    it('uses the search for q, and the list without it', async () => {
      await titles({ q: 'cat' });
      await titles({});
      expect(paths().map((path) => path.split('?')[0])).toEqual(['GET /books/search', 'GET /books']);
    });

    it('says that q needs a search', async () => {
      const error = await failure(providers.data.getList('labels', { filter: { q: 'x' } }));
      expect([error.status, error.message]).toEqual([404, '/search of Label is not enabled: set enableSearch']);
    });

    it('reads pages of more than 100 records with several requests', async () => {
      await library.fill(
        Label,
        Array.from({ length: 230 }, (_, index) => ({ id: index + 1, name: `label ${index}` })),
      );
      const read = async (page: number, perPage: number) => {
        const answer = await providers.data.getList('labels', { pagination: { page, perPage } });
        return [answer.data.length, answer.data[0]?.id as unknown, answer.total];
      };
      expect(await read(1, 1000)).toEqual([230, 1, 230]);
      expect(providers.sent).toHaveLength(3);
      expect(await read(2, 150)).toEqual([80, 151, 230]);
      expect(await read(1, 150)).toEqual([150, 1, 230]);
    });

    it('leaves out the sort by id where the server refuses it, and asks once', async () => {
      await library.fill(Label, [{ id: 7, name: 'b' }]);
      const list = { pagination: PAGE, sort: BY_ID, filter: {} };
      expect(ids(await providers.data.getList('labels', list))).toEqual([7]);
      expect(ids(await providers.data.getList('labels', list))).toEqual([7]);
      expect(providers.sent.map(({ path }) => path.includes('sort'))).toEqual([true, false, false]);
      const error = await failure(providers.data.getList('labels', { ...list, sort: { field: 'size', order: 'ASC' } }));
      expect(error.message).toBe('The query is not valid: sort unknown field "size"; known ones are name');
    });

    it('has no total where meta.count is none', async () => {
      const list = { pagination: { page: 1, perPage: 2 }, sort: BY_ID, filter: {}, meta: { count: 'none' } };
      const { total, pageInfo } = await providers.data.getList('books', list);
      expect([total, pageInfo]).toEqual([undefined, { hasPreviousPage: false, hasNextPage: true }]);
    });

    it('pages through a list that has cursors only', async () => {
      const names = Array.from({ length: 7 }, (_, index) => ({ id: index + 1, name: `entry ${9 - index}` }));
      await library.fill(Entry, names);
      const sort = { field: 'name', order: 'ASC' } as const;
      const read = async (data: Providers['data'], page: number) => {
        const answer = await data.getList('entries', { pagination: { page, perPage: 3 }, sort, filter: {} });
        return [ids(answer), answer.pageInfo];
      };
      const pages = [
        [[7, 6, 5], { hasPreviousPage: false, hasNextPage: true }],
        [[4, 3, 2], { hasPreviousPage: true, hasNextPage: true }],
        [[1], { hasPreviousPage: true, hasNextPage: false }],
      ];
      const { data } = providers;
      expect([await read(data, 1), await read(data, 2), await read(data, 3), await read(data, 1)]).toEqual([
        ...pages,
        pages[0],
      ]);
      expect(providers.sent).toHaveLength(5);
      // After a reload, the cursors of the pages before are not known.
      expect(await read(providersFor(library.api).data, 3)).toEqual(pages[2]);
      expect(await read(data, 5)).toEqual([[], { hasPreviousPage: true, hasNextPage: false }]);
    });

    it.each([
      ['countries', 'The list of "countries" must be paginated. Set enablePagination of the resource on the server.'],
      ['own/list', 'The list of "own/list" must be paginated. Set enablePagination of the resource on the server.'],
      [
        'nothing',
        'The server has no route GET http://127.0.0.1:PORT/api/nothing for "nothing". Check the name of the resource',
      ],
    ])('says in one sentence why it cannot list %s', async (resource, message) => {
      const error = await failure(providers.data.getList(resource, { pagination: PAGE, sort: BY_TITLE, filter: {} }));
      expect(error.message.replace(String(library.port), 'PORT')).toMatch(message);
    });

    it('cancels the request with the signal of react-admin', async () => {
      const controller = new AbortController();
      controller.abort();
      const error = await failure(providers.data.getList('books', { filter: {}, signal: controller.signal }));
      expect([providers.data.supportAbortSignal, error.name]).toEqual([true, 'AbortError']);
    });
  });

  describe('records', () => {
    it('reads one, with meta.embed and meta.fields', async () => {
      expect((await providers.data.getOne('books', { id: 1 })).data).toMatchObject({ id: 1, title: 'Emma' });
      const { data } = await providers.data.getOne('books', {
        id: 2,
        meta: { embed: ['shelf', 'notes'], fields: 'title' },
      });
      expect(data).toEqual({ id: 2, title: 'Dune, part one', shelf: null, notes: [] });
      expect((await failure(providers.data.getOne('books', { id: 99 }))).status).toBe(404);
    });

    it.each(['..', '.', ''])('does not send the id %j, which leads to another URL', async (id) => {
      const error = await failure(providers.data.getOne('books', { id }));
      expect([error.message, providers.sent]).toEqual([
        `An id of "books" must not be ${JSON.stringify(id)}. Pass the id of a record.`,
        [],
      ]);
    });

    it('creates one, and shows failures by field', async () => {
      const { data } = await providers.data.create('books', { data: { title: 'Persuasion' } });
      expect(data).toMatchObject({ id: 4, title: 'Persuasion', version: 1 });
      const error = await failure(providers.data.create('books', { data: { price: 'cheap' } }));
      const reasons = error.message.replace('Book is not valid: ', '').split('; ');
      expect([error.status, reasons.toSorted()]).toEqual([
        400,
        ['price must be a number, got "cheap"', 'title is required'],
      ]);
      expect(error.body.errors).toEqual({
        price: 'must be a number, got "cheap"',
        title: 'is required',
        root: { serverError: error.message },
      });
    });

    it('shows which field of a conflict is taken', async () => {
      await library.fill(Shelf, [{ id: 1, name: 'Poems' }]);
      await providers.auth.login({ username: 'ann@example.com', password: PASSWORD });
      const error = await failure(providers.data.create('shelves', { data: { name: 'Poems' } }));
      expect([error.status, error.message, error.body.errors.name]).toEqual([
        409,
        'Shelf cannot be created: name is already taken',
        'is already taken',
      ]);
    });

    it('sends only changed fields, and members of JSON columns as a merge patch', async () => {
      const { data: created } = await providers.data.create('books', {
        data: { title: 'Ulysses', layout: { columns: 2, banner: { text: 'New', colour: 'red' }, wide: true } },
      });
      const data = {
        ...created,
        subtitle: 'One day',
        layout: { columns: 2, banner: { text: 'New' } },
        price: undefined,
      };
      const updated = await providers.data.update('books', { id: created.id, data, previousData: created });
      expect(providers.sent.at(-1)).toMatchObject({
        method: 'PATCH',
        body: { subtitle: 'One day', layout: { wide: null, banner: { colour: null } } },
      });
      expect(updated.data).toMatchObject({
        subtitle: 'One day',
        layout: { columns: 2, banner: { text: 'New' } },
        price: 10,
      });
    });

    it('sends the date-times of forms in UTC', async () => {
      const local = '2026-07-14T10:30';
      const utc = new Date(local).toISOString();
      const { data } = providers;
      const { data: created } = await data.create('books', { data: { title: 'Ulysses', subtitle: local } });
      expect(created['subtitle']).toBe(utc);
      const changed = { ...created, subtitle: '2026-07-14T10:31:15' };
      const { data: updated } = await data.update('books', { id: created.id, data: changed, previousData: created });
      expect(updated['subtitle']).toBe(new Date('2026-07-14T10:31:15').toISOString());
      await data.updateMany('books', { ids: [2], data: { subtitle: local } });
      const filter = { subtitle_gte: local, subtitle_lt: '2026-07-14T10:31' };
      expect(ids(await data.getList('books', { pagination: PAGE, sort: BY_ID, filter }))).toEqual([2]);
    });

    it('keeps a text that is no date-time, or that the form has not changed', async () => {
      await library.fill(Book, [{ id: 1, title: 'Emma', subtitle: '2026-07-14T10:30' }]);
      const { data: book } = await providers.data.getOne('books', { id: 1 });
      await providers.data.update('books', { id: 1, data: { ...book, title: '2026-99-14T10:30' }, previousData: book });
      expect(providers.sent.at(-1)?.body).toEqual({ title: '2026-99-14T10:30' });
    });

    it('deletes one and restores it', async () => {
      const { data: emma } = await providers.data.getOne('books', { id: 1 });
      await providers.auth.login({ username: 'ann@example.com', password: PASSWORD });
      expect((await providers.data.delete('books', { id: 1, previousData: emma })).data).toEqual(emma);
      expect((await providers.data.delete('books', { id: 2 })).data).toEqual({ id: 2 });
      const list = (deleted: string, q?: string) =>
        providers.data.getList('books', { pagination: PAGE, sort: BY_ID, filter: { deleted, q } });
      expect([ids(await list('only')), ids(await list('with')), ids(await list('only', 'dune'))]).toEqual([
        [1, 2],
        [1, 2, 3],
        [2],
      ]);
      const restored = await providers.data.restore('books', { id: 1 });
      expect([restored.data.id, ids(await list('only'))]).toEqual([1, [2]]);
      await providers.data.delete('books', { id: 2, meta: { purge: true } });
      expect(ids(await list('only'))).toEqual([]);
    });
  });

  describe('If-Match', () => {
    const update = (previousData: Book, title: string) =>
      providers.data.update<Book>('books', { id: previousData.id, data: { ...previousData, title }, previousData });

    it('sends the ETag of the record that the user saw, not of one that was read since', async () => {
      const { data: seen } = await providers.data.getOne<Book>('books', { id: 1 });
      await update(seen, 'Changed by Bob');
      // The list behind the form is refreshed, and a page with the record too.
      await providers.data.getOne('books', { id: 1 });
      const error = await failure(update(seen, 'Changed by Ann'));
      expect([error.status, error.message]).toEqual([
        412,
        'This record of "books" was changed by somebody else since you opened it. Reload it and repeat your change.',
      ]);
      expect((await providers.data.getOne<Book>('books', { id: 1 })).data.title).toBe('Changed by Bob');
      expect(ifMatch()).toEqual([
        ['GET', undefined],
        ['PATCH', '"1"'],
        ['GET', undefined],
        ['PATCH', '"1"'],
        ['GET', undefined],
      ]);
    });

    it('compares the form with the change of somebody else, and makes the choice of the user', async () => {
      const { data: seen } = await providers.data.getOne<Book>('books', { id: 1 });
      await providersFor(library.api).data.update('books', {
        id: 1,
        data: { title: 'By Bob', price: 7 },
        previousData: { id: 1 },
      });
      const params = { id: 1, data: { ...seen, title: 'By Ann', subtitle: 'New' }, previousData: seen };
      expect((await failure(providers.data.update<Book>('books', params))).status).toBe(412);
      const { current, fields } = await providers.data.readConflict<Book>('books', params);
      expect(current).toMatchObject({ id: 1, title: 'By Bob', price: 7, version: 2 });
      expect(fields).toEqual([
        { name: 'title', before: seen.title, mine: 'By Ann', theirs: 'By Bob', isMine: true },
        { name: 'price', before: seen.price, mine: seen.price, theirs: 7, isMine: false },
        { name: 'subtitle', before: null, mine: 'New', theirs: null, isMine: true },
        { name: 'version', before: 1, mine: 1, theirs: 2, isMine: false },
      ]);
      await providers.data.update<Book>('books', { id: 1, data: { subtitle: 'New' }, previousData: current });
      expect(providers.sent.at(-1)).toMatchObject({ headers: { 'If-Match': '"2"' }, body: { subtitle: 'New' } });
    });

    it('continues with the ETag of the answer to create and update', async () => {
      const { data: created } = await providers.data.create<Book>('books', { data: { title: 'A' } });
      const { data: updated } = await update(created, 'B');
      // Copies of react-query have their members in another order.
      const copy = Object.fromEntries(Object.entries(updated).toReversed()) as unknown as Book;
      const { data: last } = await update(copy, 'C');
      await providers.data.delete('books', { id: last.id, previousData: last });
      expect(ifMatch().slice(1)).toEqual([
        ['PATCH', '"1"'],
        ['PATCH', '"2"'],
        ['DELETE', '"3"'],
      ]);
      const error = await failure(providers.data.delete('books', { id: last.id, previousData: last }));
      expect(error.status).toBe(404);
    });

    it('never sends a weak ETag', async () => {
      const { data: label } = await providers.data.create('labels', { data: { name: 'x' } });
      const { data: read } = await providers.data.getOne('labels', { id: label.id });
      const { data: changed } = await providers.data.update('labels', {
        id: read.id,
        data: { name: 'y' },
        previousData: read,
      });
      const partial = await providers.data.getOne('books', { id: 1, meta: { fields: ['title'] } });
      await providers.data.update('books', { id: 1, data: { title: 'Z' }, previousData: partial.data });
      await providers.data.delete('labels', { id: changed.id, previousData: changed });
      expect(providers.sent.filter(({ headers }) => headers['If-Match'] !== undefined)).toEqual([]);
    });

    it('reads a record of a list again where the server requires the header', async () => {
      await library.fill(Contract, [
        { id: 1, name: 'Rent' },
        { id: 2, name: 'Loan' },
      ]);
      const { data } = await providers.data.getList<Contract>('contracts', {
        pagination: PAGE,
        sort: BY_ID,
        filter: {},
      });
      const [rent, loan] = data;
      const change = (previousData: Contract, name: string) =>
        providers.data.update<Contract>('contracts', {
          id: previousData.id,
          data: { ...previousData, name },
          previousData,
        });
      expect((await change(rent!, 'Rent of 2027')).data).toMatchObject({ name: 'Rent of 2027', version: 2 });
      // The record has changed since it was listed.
      expect((await failure(change(rent!, 'Rent of 2028'))).status).toBe(412);
      await providers.data.delete('contracts', { id: 2, previousData: loan! });
      expect((await failure(providers.data.getOne('contracts', { id: 2 }))).status).toBe(404);
    });

    it.each<[string, (tag: string) => string]>([
      ['weakens', (tag) => `W/${tag}`],
      ['lengthens', (tag) => tag.replace(/"$/, '-gzip"')],
    ])('[8.5] overwrites nothing behind a proxy that %s the ETag', async (_, change) => {
      await library.fill(Contract, [{ id: 1, name: 'Rent' }]);
      const { data } = providersFor(library.api, { fetch: changingTags(change) });
      const rename = (resource: string, previousData: RaRecord, values: object) =>
        data.update(resource, { id: 1, data: { ...previousData, ...values }, previousData });
      for (const [resource, values, stale] of [
        ['books', { title: 'B' }, { title: 'C' }],
        ['contracts', { name: 'B' }, { name: 'C' }],
      ] as const) {
        const { data: seen } = await data.getOne(resource, { id: 1 });
        expect((await rename(resource, seen, values)).data).toMatchObject({ ...values, version: 2 });
        expect((await failure(rename(resource, seen, stale))).status).toBe(412);
        expect((await data.getOne(resource, { id: 1 })).data).toMatchObject(values);
      }
      // Of a list, without an ETag: it is read again.
      const { data: listed } = await data.getList('contracts', { pagination: PAGE, sort: BY_ID, filter: {} });
      expect((await rename('contracts', listed[0]!, { name: 'D' })).data).toMatchObject({ name: 'D', version: 3 });
    });

    it.each<[string, (tag: string) => string | undefined, number, RegExp]>([
      ['removes it', () => undefined, 428, /must have an ETag, got none\. Let no proxy remove it/],
      ['makes a hash of it', () => 'W/"x"', 400, /must be a strong one, got W\/"x", so the change cannot/],
    ])('[8.5] fails where the server requires the header and a proxy %s', async (_, change, status, message) => {
      await library.fill(Contract, [{ id: 1, name: 'Rent' }]);
      const recorded = recordedOptions(library.api);
      const { data } = providersFor(library.api, { fetch: changingTags(change, recorded.fetch) });
      const { data: listed } = await data.getList('contracts', { pagination: PAGE, sort: BY_ID, filter: {} });
      const error = await failure(
        data.update('contracts', { id: 1, data: { ...listed[0], name: 'B' }, previousData: listed[0]! }),
      );
      expect([error.status, error.message]).toEqual([status, expect.stringMatching(message)]);
      expect(recorded.sent.filter(({ method }) => method === 'PATCH').length).toBe(1);
      expect((await data.getOne('contracts', { id: 1 })).data).toMatchObject({ name: 'Rent', version: 1 });
    });

    it('writes many records whatever their versions are', async () => {
      await library.fill(Contract, [
        { id: 1, name: 'Rent' },
        { id: 2, name: 'Loan' },
      ]);
      await providers.data.updateMany('contracts', { ids: [1, 2], data: { name: 'Both' } });
      await providers.data.deleteMany('contracts', { ids: [2] });
      const { data } = await providers.data.getList('contracts', { pagination: PAGE, filter: {} });
      expect(data).toEqual([{ id: 1, name: 'Both', version: 2 }]);
    });
  });

  describe('many records', () => {
    it('reads them with one request', async () => {
      const { data } = await providers.data.getMany('books', { ids: [3, 1, 99], meta: { embed: 'shelf' } });
      expect(data.map(({ id, shelf }) => [id, shelf]).toSorted()).toEqual([
        [1, null],
        [3, null],
      ]);
      expect(paths()).toEqual(['GET /books?include=shelf&filter[id][in]=3,1,99']);
    });

    it('reads 250 of them with three requests', async () => {
      await library.fill(
        Book,
        Array.from({ length: 250 }, (_, index) => ({ id: index + 1, title: `Book ${index}` })),
      );
      const wanted = Array.from({ length: 250 }, (_, index) => index + 1);
      const answer = await providers.data.getMany('books', { ids: wanted });
      expect([ids(answer), providers.sent.length]).toEqual([wanted, 3]);
      expect((await providers.data.getMany('books', { ids: [] })).data).toEqual([]);
    });

    it('reads them from a list without pages', async () => {
      await library.fill(
        Country,
        Array.from({ length: 30 }, (_, index) => ({ id: index + 1, name: `Land ${index}` })),
      );
      const wanted = Array.from({ length: 30 }, (_, index) => index + 1);
      for (const sent of [2, 3]) {
        expect(ids(await providers.data.getMany('countries', { ids: wanted }))).toEqual(wanted);
        expect(providers.sent).toHaveLength(sent);
      }
    });

    it('reads them one by one where the server does not filter by id, and asks once', async () => {
      await library.fill(Label, [
        { id: 1, name: 'a' },
        { id: 2, name: 'b' },
      ]);
      expect(ids(await providers.data.getMany('labels', { ids: [2, 1, 99] }))).toEqual([2, 1]);
      expect(ids(await providers.data.getMany('labels', { ids: [1] }))).toEqual([1]);
      expect(paths()).toEqual([
        'GET /labels?filter[id][in]=2,1,99',
        'GET /labels/2',
        'GET /labels/1',
        'GET /labels/99',
        'GET /labels/1',
      ]);
    });

    it('changes and deletes them with one request each', async () => {
      expect((await providers.data.updateMany('books', { ids: [1, 2], data: { price: 1 } })).data).toEqual([1, 2]);
      expect((await providers.data.deleteMany('books', { ids: [2, 3] })).data).toEqual([2, 3]);
      expect(paths()).toEqual(['PATCH /books/batch', 'DELETE /books/batch?ids=2,3']);
      const { data } = await providers.data.getList<Book>('books', { filter: {} });
      expect(data.map(({ id, price }) => [id, price])).toEqual([[1, 1]]);
    });

    it('does not take a missing record for a missing batch', async () => {
      const update = await failure(providers.data.updateMany('books', { ids: [1, 99], data: { price: 1 } }));
      const deletion = await failure(providers.data.deleteMany('books', { ids: [1, 99] }));
      const wrong = await failure(providers.data.updateMany('books', { ids: [1], data: { price: 'free' } }));
      const wrongId = await failure(providers.data.deleteMany('books', { ids: ['x'] }));
      expect([update.message, deletion.message]).toEqual(['Book with id 99 not found', 'Book with id 99 not found']);
      expect([wrong.message, wrongId.status]).toEqual([
        'Book is not valid: items[0].price must be a number, got "free"',
        400,
      ]);
      expect(providers.sent).toHaveLength(4);
      expect((await providers.data.getOne<Book>('books', { id: 1 })).data.price).toBe(5);
    });

    describe.each(['tags', 'labels'])('without a batch of %s', (resource) => {
      beforeEach(async () => {
        const rows = ['a', 'b', 'c'].map((name, index) => ({ id: index + 1, name }));
        await library.fill(resource === 'tags' ? Tag : Label, rows);
      });

      it('changes them one by one, and asks once', async () => {
        await providers.data.updateMany(resource, { ids: [1, 2], data: { name: 'x' } });
        await providers.data.deleteMany(resource, { ids: [2] });
        const { data } = await providers.data.getList(resource, { filter: {} });
        expect(data.map(({ id, name }) => `${id} ${name}`)).toEqual(['1 x', '3 c']);
        expect(paths().slice(0, -1)).toEqual(
          ['PATCH */batch', 'PATCH */1', 'PATCH */2', 'DELETE */2'].map((path) => path.replace('*', `/${resource}`)),
        );
      });

      it('deletes them one by one, and says how many', async () => {
        await providers.data.deleteMany(resource, { ids: [1] });
        expect(paths()).toEqual([`DELETE /${resource}/batch?ids=1`, `DELETE /${resource}/1`]);
        const error = await failure(providers.data.deleteMany(resource, { ids: [3, 77, 2] }));
        expect([error.status, error.message]).toEqual([
          404,
          expect.stringMatching(
            new RegExp(`^1 of 3 records of "${resource}" were written. (Tag|Label) with id 77 not found$`),
          ),
        ]);
      });
    });

    it('says which route is missing where there is neither a batch nor a write', async () => {
      const error = await failure(providers.data.deleteMany('nothing', { ids: [1] }));
      expect(error.message).toContain('The server has no route DELETE');
    });
  });

  describe('nested resources', () => {
    beforeEach(async () => {
      await library.fill(Note, [
        { id: 1, text: 'good', book: { id: 1 } },
        { id: 2, text: 'bad', book: { id: 1 } },
        { id: 3, text: 'other', book: { id: 2 } },
      ]);
    });

    it('takes the value of the path from the reference, the filter, meta or the record', async () => {
      const { data } = providers;
      const sort = { field: 'text', order: 'ASC' } as const;
      const reference = { target: 'bookId', id: 1, pagination: PAGE, sort, filter: {} };
      const listed = await data.getManyReference<Note & { id: number }>(NOTES, reference);
      expect([ids(listed), listed.total]).toEqual([[2, 1], 2]);
      expect(ids(await data.getList(NOTES, { pagination: PAGE, sort, filter: { bookId: 2 } }))).toEqual([3]);
      const { data: note } = await data.getOne(NOTES, { id: 1, meta: { bookId: 1 } });
      expect(note).toEqual({ id: 1, text: 'good', bookId: 1 });
      await data.update(NOTES, { id: 1, data: { text: 'better' }, previousData: note });
      const { data: created } = await data.create(NOTES, { data: { text: 'new', bookId: 2 } });
      expect(created).toMatchObject({ text: 'new', bookId: 2 });
      await data.delete(NOTES, { id: 1, previousData: note });
      await data.deleteMany(NOTES, { ids: [2], meta: { bookId: 1 } });
      expect(ids(await data.getMany(NOTES, { ids: [1, 2], meta: { bookId: 1 } }))).toEqual([]);
      expect(paths().filter((path) => !/ \/books\/[12]\/notes/.test(path))).toEqual([]);
    });

    it('says which value is missing', async () => {
      const error = await failure(providers.data.getOne(NOTES, { id: 1 }));
      expect([error.message, providers.sent]).toEqual([
        'The resource "books/:bookId/notes" needs a value for bookId. Pass it as meta: { bookId: … }.',
        [],
      ]);
    });

    it('filters a list by the target of a reference', async () => {
      await library.fill(Shelf, [{ id: 1, name: 'Poems' }]);
      await providers.data.update('books', { id: 1, data: { shelfId: 1 }, previousData: { id: 1 } });
      const reference = { id: 1, pagination: PAGE, sort: BY_ID };
      const listed = await providers.data.getManyReference('books', {
        target: 'shelfId',
        filter: { price_lt: 9 },
        ...reference,
      });
      expect(ids(listed)).toEqual([1]);
      const none = await providers.data.getManyReference('books', {
        target: 'shelfId',
        filter: { price_gt: 9 },
        ...reference,
      });
      expect(ids(none)).toEqual([]);
    });
  });

  describe('other endpoints', () => {
    it('exports the filtered list', async () => {
      const params = {
        filter: { price_gte: 15 },
        sort: { field: 'price', order: 'DESC' },
        meta: { fields: ['title'] },
      } as const;
      const csv = await providers.data.export('books', params);
      expect([csv.headers.get('content-type'), await csv.text()]).toEqual([
        expect.stringContaining('text/csv'),
        expect.stringMatching(/^id,title\r?\n3,Cats\r?\n2,"Dune, part one"\r?\n$/),
      ]);
      const ndjson = await (await providers.data.export('books', { ...params, format: 'ndjson' })).text();
      expect(
        ndjson
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as unknown),
      ).toEqual([
        { id: 3, title: 'Cats' },
        { id: 2, title: 'Dune, part one' },
      ]);
      const error = await failure(providers.data.export('labels'));
      expect(error.message).toBe('/export of Label is not enabled: set enableExport');
      expect((await failure(providers.data.export('books', { filter: { q: 'x' } }))).message).toContain(
        'q unknown parameter',
      );
    });

    it('sends custom requests with the token', async () => {
      const { data, auth } = providers;
      expect((await data.custom<{ data: unknown }>('books/count')).data.data).toEqual({ count: 3 });
      expect((await failure(data.custom('own/page/a'))).status).toBe(401);
      await auth.login({ username: 'ann@example.com', password: PASSWORD });
      expect((await data.custom('/own/page/a?x=1')).data).toEqual({ name: 'a', query: { x: '1' } });
      expect((await data.custom('own/echo', { method: 'POST', json: { a: 1 } })).data).toEqual({ done: true });
      expect(providers.sent.at(-1)).toMatchObject({ method: 'POST', body: { a: 1 } });
    });

    it.each(OUTSIDE)('does not send a request to the path %j, which leads out of the url', async (path) => {
      const { data, sent } = providers;
      for (const call of [() => data.custom(path), () => data.getOne(path, { id: 1 }), () => data.export(path)])
        expect((await failure(call())).message).toMatch(/^The path ".*" must stay below the url of the provider\. /);
      expect(sent).toEqual([]);
    });

    it.each(['a/../b', '%2e%2e', '../..', '..\\x', 'a?b#c', '..;/x'])('keeps the id %j in its segment', async (id) => {
      const paths: string[] = [];
      const answer: typeof fetch = (input) => {
        paths.push(new URL(String(input)).pathname);
        return Promise.resolve(Response.json({ data: { id } }));
      };
      await providersFor('http://shop.example/api', { fetch: answer }).data.getOne('books', { id });
      expect(paths).toEqual([`/api/books/${encodeURIComponent(id)}`]);
    });

    it('does not send an id that cannot be encoded', async () => {
      expect((await failure(providers.data.getOne('books', { id: '\ud800' }))).message).toContain(
        'Pass the id of a record.',
      );
    });

    it.each(['https://evil.example/x', '//evil.example/x'])('keeps the token from %s', async (path) => {
      expect((await failure(providers.data.custom(path))).status).toBe(404);
      expect(providers.sent[0]?.path.startsWith('/')).toBe(true);
    });
  });

  describe('failures without an answer of the service', () => {
    const fails = async (answer: () => Promise<Response>) => {
      const { message, status } = await failure(
        dataProvider('http://shop.example/api/', { fetch: answer }).getOne('books', { id: 1 }),
      );
      return [status as unknown, message];
    };

    it('names the resource, and what to do', async () => {
      const at = 'http://shop.example/api/books/1';
      expect(await fails(() => Promise.reject(new TypeError('Failed to fetch')))).toEqual([
        0,
        `There is no answer from ${at} for "books" (Failed to fetch). Check that the server runs, and that its CORS settings allow this page.`,
      ]);
      const html = { headers: { 'Content-Type': 'text/html; charset=utf-8' } };
      expect(await fails(async () => new Response('<html>', html))).toEqual([
        200,
        `The answer from ${at} for "books" must be JSON, got HTML. Check the url of the provider.`,
      ]);
      expect(await fails(async () => new Response('{"id": 1}'))).toEqual([
        200,
        `The answer from ${at} for "books" must be an object with "data". Check the url of the provider.`,
      ]);
      expect(await fails(async () => new Response(null, { status: 502 }))).toEqual([
        502,
        'A proxy answered with status 502, because the server behind it does not answer. Try again later.',
      ]);
      expect(await fails(async () => Response.json({ message: ['a', 'b'] }, { status: 400 }))).toEqual([400, 'a']);
    });
  });

  describe('authProvider', () => {
    it('logs in, and both providers share the token until the logout', async () => {
      const { auth, data } = providers;
      expect((await failure(data.getList('shelves', { filter: {} }))).status).toBe(401);
      await auth.login({ username: 'ann@example.com', password: PASSWORD });
      await auth.checkAuth({});
      expect(await auth.getPermissions()).toEqual(['ADMIN']);
      expect(await auth.getIdentity()).toMatchObject({ id: 1, fullName: 'Ann', email: 'ann@example.com' });
      await data.getList('shelves', { filter: {} });
      await auth.logout({});
      expect([providers.items.size, await auth.getPermissions()]).toEqual([0, []]);
      expect((await failure(auth.checkAuth({}))).message).toBe('ra.auth.auth_check_error');
      expect((await failure(data.getList('shelves', { filter: {} }))).status).toBe(401);
    });

    it('says why a login fails', async () => {
      const wrong = await failure(providers.auth.login({ email: 'ann@example.com', password: 'wrong' }));
      expect([wrong.status, wrong.message, providers.items.size]).toEqual([401, 'Invalid credentials', 0]);
      const elsewhere = providersFor(library.api, { authUrl: `${library.url}/id/` });
      expect((await failure(elsewhere.auth.login({ username: 'a', password: 'b' }))).message).toContain(
        '/id/login for "auth"',
      );
    });

    it('ends the session after 401, and keeps it after 403', async () => {
      await library.accounts.ensure({ email: 'bob@example.com', password: PASSWORD });
      await providers.auth.login({ email: 'bob@example.com', password: PASSWORD });
      const forbidden = await failure(providers.data.custom('own/page/a'));
      expect([forbidden.status, forbidden.message]).toEqual([403, 'Admin access required']);
      await expect(providers.auth.checkError(forbidden)).resolves.toBeUndefined();
      expect((await failure(providers.auth.checkError({ status: 401 }))).message).toBe('ra.notification.logged_out');
      await expect(providers.auth.checkError(undefined)).resolves.toBeUndefined();
    });

    it.each([
      ['that has expired', makeToken({ payload: claims({ exp: Math.floor(Date.now() / 1000) - 1 }) })],
      ['without an expiry', makeToken({ payload: claims({ exp: undefined }) })],
      ['that is no token', 'nonsense'],
      ['with a payload that is not JSON', makeToken({ payload: 'nonsense' })],
    ])('rejects a token %s', async (_, token) => {
      const storage = { getItem: () => token, setItem: () => undefined, removeItem: () => undefined };
      const { auth } = providersFor(library.api, { storage });
      expect((await failure(auth.checkAuth({}))).message).toBe('ra.auth.auth_check_error');
      expect(await auth.getPermissions()).toEqual([]);
    });

    it('uses memory without localStorage, apart for each url', async () => {
      const auth = authProvider(`${library.api}/`);
      await auth.login({ username: 'ann@example.com', password: PASSWORD });
      expect((await dataProvider(library.api).getList('shelves', { filter: {} })).data).toEqual(expect.any(Array));
      expect(await authProvider('http://other.example').getPermissions()).toEqual([]);
      await auth.logout({});
      expect(await auth.getPermissions()).toEqual([]);
    });
  });
});

it('logs in with the user name', async () => {
  const library = await startLibrary('express', { loginMethod: LoginMethod.USERNAME, authBasePath: '/id' });
  await library.accounts.create({ username: 'ann', password: PASSWORD });
  const { auth, sent } = providersFor(library.api, { authUrl: `${library.url}/id`, loginField: 'username' });
  await auth.login({ username: 'ann', password: PASSWORD });
  expect([sent[0]?.body, (await auth.getIdentity()).fullName]).toEqual([
    { username: 'ann', password: PASSWORD },
    'ann',
  ]);
  await library.close();
});
