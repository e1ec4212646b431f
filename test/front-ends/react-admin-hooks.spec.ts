/** The providers through react-admin itself: its hooks, its forms, and what it does after a failure. */
import { createElement as h, type FunctionComponent, type ReactNode, useState } from 'react';
import {
  Book,
  Label,
  type Library,
  Note,
  PASSWORD,
  type Providers,
  providersFor,
  Shelf,
  startLibrary,
} from './admin-service.js';
import { type Dom, type Page, startDom } from './dom.js';

const dom: Dom = await startDom();
const ra = await import('ra-core');
// ra-core prints each failure of a provider.
const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined);
afterAll(async () => {
  printed.mockRestore();
  await dom.close();
});

/** Pages cannot see the platform: react-admin.spec.ts sends the requests of the providers to both. */
const PLATFORM = 'express';

describe('react-admin in a page', () => {
  let library: Library;
  let providers: Providers;
  let page: Page | undefined;

  beforeAll(async () => {
    library = await startLibrary(PLATFORM);
    await library.accounts.create({ email: 'ann@example.com', password: PASSWORD, role: 'ADMIN', firstName: 'Ann' });
  });
  afterAll(() => library.close());
  beforeEach(async () => {
    providers = providersFor(library.api);
    await library.fill(Note, []);
    await library.fill(Book, []);
    await library.fill(Shelf, [
      { id: 1, name: 'Poems' },
      { id: 2, name: 'Novels' },
    ]);
    await library.fill(Book, [
      { id: 1, title: 'Emma', price: 5, shelf: { id: 1 } },
      { id: 2, title: 'Dune', price: 15, shelf: { id: 2 } },
      { id: 3, title: 'Cats', price: 25, shelf: { id: 1 } },
    ]);
    await providers.auth.login({ username: 'ann@example.com', password: PASSWORD });
    providers.sent.length = 0;
  });
  afterEach(() => page?.close());

  const paths = (): string[] => providers.sent.map(({ method, path }) => `${method} ${path}`);

  /** What the user sees of notifications. */
  const Notifications: FunctionComponent = () => {
    const { notifications }: { notifications: { message: ReactNode }[] } = ra.useNotificationContext();
    return h('p', { id: 'notifications' }, notifications.map(({ message }) => String(message)).join(' | '));
  };

  const open = async (children: ReactNode, at: (path: string) => void = () => undefined): Promise<Page> => {
    const { data: dataProvider, auth: authProvider } = providers;
    const context = h(ra.CoreAdminContext, { dataProvider, authProvider }, children, h(Notifications));
    page = await dom.render(
      h(ra.TestMemoryRouter, { locationCallback: ({ pathname }) => at(pathname), children: context }),
    );
    return page;
  };

  const Field = ({ source }: { source: string }) => {
    const { field, fieldState } = ra.useInput({ source });
    return h('label', null, h('input', field), h('span', { id: `${source}-error` }, fieldState.error?.message));
  };

  const Form = () =>
    h(ra.Form, null, h(Field, { source: 'title' }), h(Field, { source: 'price' }), h('button', { type: 'submit' }));

  const editor = (): ReactNode =>
    h(ra.EditBase, { resource: 'books', id: 1, mutationMode: 'pessimistic', redirect: false, children: h(Form) });

  it('reads the references of a list with one request', async () => {
    const Name = ({ id }: { id: number }) => {
      const { referenceRecord } = ra.useReference<{ id: number; name: string }>({ reference: 'shelves', id });
      return h('i', null, referenceRecord?.name);
    };
    const Names = () => {
      const { data = [] } = ra.useGetList<{ id: number; shelfId: number }>('books', {
        pagination: { page: 1, perPage: 10 },
        sort: { field: 'price', order: 'ASC' },
        filter: { price_gte: 5 },
      });
      return data.map(({ id, shelfId }) => h(Name, { key: id, id: shelfId }));
    };
    const { until, text } = await open(h(Names));
    await until(() => expect(text()).toBe('PoemsNovelsPoems'));
    expect(paths()).toEqual([
      'GET /books?sort=price&filter[price][gte]=5&page=1&size=10',
      'GET /shelves?filter[id][in]=1,2',
    ]);
  });

  it('reads the records that refer to one, also of a nested resource', async () => {
    await library.fill(Note, [{ id: 1, text: 'good', book: { id: 1 } }]);
    const Notes = () => {
      const { data, total } = ra.useGetManyReference<{ id: number; text: string }>('books/:bookId/notes', {
        target: 'bookId',
        id: 1,
        pagination: { page: 1, perPage: 5 },
        sort: { field: 'text', order: 'ASC' },
        filter: {},
      });
      return h('p', null, `${data?.map(({ text }) => text).join(',')} of ${total}`);
    };
    const { until, text } = await open(h(Notes));
    await until(() => expect(text()).toBe('good of 1'));
  });

  it('saves a form with the changed fields and the ETag of the record', async () => {
    const { until, type, click, find } = await open(editor());
    await until(() => expect(find('[name=title]').value).toBe('Emma'));
    await type('[name=title]', 'Emma, revised');
    await click('[type=submit]');
    await until(() => expect(find('#notifications').textContent).toBe('resources.books.notifications.updated'));
    expect(providers.sent.find(({ method }) => method === 'PATCH')).toMatchObject({
      path: '/books/1',
      headers: { 'If-Match': '"1"' },
      body: { title: 'Emma, revised' },
    });
    expect((await providers.data.getOne<Book>('books', { id: 1 })).data).toMatchObject({
      title: 'Emma, revised',
      price: 5,
    });
    // The form has the new version, so it can be saved again.
    await type('[name=title]', 'Emma, again');
    await click('[type=submit]');
    await until(() =>
      expect(providers.sent.findLast(({ method }) => method === 'PATCH')?.headers['If-Match']).toBe('"2"'),
    );
  });

  it('shows failures of the server at the fields of the form', async () => {
    const { until, type, click, find } = await open(editor());
    await until(() => expect(find('[name=title]').value).toBe('Emma'));
    await type('[name=price]', 'cheap');
    await type('[name=title]', 'x'.repeat(81));
    await click('[type=submit]');
    await until(() => expect(find('#price-error').textContent).toBe('must be a number, got "cheap"'));
    expect(find('#title-error').textContent).toContain('80');
    await until(() => expect(find('#notifications').textContent).toContain('Book is not valid: '));
  });

  it('notifies of a change by somebody else, and keeps it', async () => {
    const { until, type, click, find } = await open(editor());
    await until(() => expect(find('[name=title]').value).toBe('Emma'));
    const other = providersFor(library.api);
    await other.data.update('books', { id: 1, data: { title: 'By Bob' }, previousData: { id: 1 } });
    await type('[name=title]', 'By Ann');
    await click('[type=submit]');
    await until(() => expect(find('#notifications').textContent).toContain('was changed by somebody else'));
    expect((await other.data.getOne<Book>('books', { id: 1 })).data.title).toBe('By Bob');
  });

  it('deletes many records with one request', async () => {
    const Delete = () => {
      const [deleteMany, { isSuccess }] = ra.useDeleteMany('books', { ids: [1, 2] });
      return h('button', { onClick: () => void deleteMany() }, isSuccess ? 'done' : 'delete');
    };
    const { until, click, text } = await open(h(Delete));
    await click('button');
    await until(() => expect(text()).toContain('done'));
    expect(paths()).toContain('DELETE /books/batch?ids=1,2');
  });

  it('sorts by the id of react-admin only where the server does', async () => {
    await library.fill(Label, [{ id: 1, name: 'a' }]);
    const list = h(ra.ListBase, {
      resource: 'labels',
      children: h(() => h('p', null, String(ra.useListContext().total))),
    });
    const { until, text } = await open(list);
    await until(() => expect(text()).toContain('1'));
  });

  it('gives the roles and the identity of the user', async () => {
    const User = () => {
      const { permissions } = ra.usePermissions<string[]>();
      const { data } = ra.useGetIdentity();
      return h('p', null, `${permissions?.join()} ${data?.fullName}`);
    };
    const { until, text } = await open(h(User));
    await until(() => expect(text()).toBe('ADMIN Ann'));
  });

  it('logs in, and shows why a login fails', async () => {
    await providers.auth.logout({});
    const Login = () => {
      const login = ra.useLogin();
      const [message, setMessage] = useState('');
      const enter = (password: string) =>
        login({ username: 'ann@example.com', password }, '/books').catch((error: Error) => setMessage(error.message));
      return [
        h('button', { key: 1, id: 'wrong', onClick: () => void enter('wrong') }),
        h('button', { key: 2, id: 'right', onClick: () => void enter(PASSWORD) }),
        h('p', { key: 3, id: 'message' }, message),
      ];
    };
    const visited: string[] = [];
    const { until, click, find } = await open(h(Login), (path) => visited.push(path));
    await click('#wrong');
    await until(() => expect(find('#message').textContent).toBe('Invalid credentials'));
    await click('#right');
    await until(() => expect(visited.at(-1)).toBe('/books'));
    expect(await providers.auth.getPermissions({})).toEqual(['ADMIN']);
  });

  it('logs out after 401, and tells the user', async () => {
    const [key] = providers.items.keys();
    // The server refuses the signature; the page only reads the claims.
    providers.items.set(key!, `${providers.items.get(key!)}x`);
    const visited: string[] = [];
    const Shelves = () => h('p', null, String(ra.useGetList('shelves').data?.length));
    const { until, find } = await open(h(Shelves), (path) => visited.push(path));
    await until(() => expect(visited.at(-1)).toBe('/login'));
    expect(find('#notifications').textContent).toBe('ra.notification.logged_out');
    expect(providers.items.size).toBe(0);
  });
});
