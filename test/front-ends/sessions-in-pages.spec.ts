/** Sessions through react-admin and refine themselves: what the user sees when a token expires, and when a session ends. */
import type { HttpError } from '@refinedev/core';
import { createElement as h, type FunctionComponent, type ReactElement, useEffect, useState } from 'react';
import { type Library, PASSWORD, recordedOptions, type RecordedOptions, Shelf, startLibrary } from './admin-service.js';
import { type Dom, type Page, startDom } from './dom.js';

const dom: Dom = await startDom();
const ra = await import('ra-core');
const refine = await import('@refinedev/core');
const admin = await import('ra-data-declarest');
const refineProviders = await import('refine-declarest');
// ra-core prints each failure of a provider.
const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined);
const now = Date.now.bind(Date);
/** How far the clock of the pages and of the service is ahead. */
let aheadMs = 0;
const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + aheadMs);
afterAll(async () => {
  printed.mockRestore();
  clock.mockRestore();
  await dom.close();
});

const USER = { email: 'ann@example.com', password: PASSWORD };
const LIFETIME_MS = 1_000;

/** The client cannot see the platform. test/auth checks logins, refreshes and logouts on both. */
const PLATFORM = 'fastify';

describe('with tokens for a second', () => {
  let library: Library;
  let options: RecordedOptions;
  let page: Page | undefined;
  let visited: string[];
  /** What refine tells the user. */
  let notified: string[];

  beforeAll(async () => {
    library = await startLibrary(PLATFORM, { sessions: { accessTokenMinutes: LIFETIME_MS / 60_000 } });
    await library.accounts.create({ ...USER, role: 'ADMIN', firstName: 'Ann' });
    await library.fill(Shelf, [{ id: 1, name: 'Poems' }]);
  });
  afterAll(() => library.close());
  beforeEach(() => {
    options = recordedOptions(library.api);
    visited = [];
    notified = [];
  });
  afterEach(() => page?.close());

  /** The name of a shelf, with what react-admin tells the user. */
  const ReactAdminForm: FunctionComponent = () => {
    const Name = () => h('input', ra.useInput({ source: 'name' }).field);
    const { notifications }: { notifications: { message: unknown }[] } = ra.useNotificationContext();
    const children = h(ra.Form, null, h(Name), h('button', { type: 'submit' }));
    return [
      h(ra.EditBase, { key: 1, resource: 'shelves', id: 1, mutationMode: 'pessimistic', redirect: false, children }),
      h('p', { key: 2 }, notifications.map(({ message }) => String(message)).join()),
    ];
  };

  /** The same with refine. */
  const RefineForm: FunctionComponent = () => {
    const [name, setName] = useState('');
    const { query, onFinish } = refine.useForm<{ id: number; name: string }, HttpError, { name: string }>({
      resource: 'shelves',
      action: 'edit',
      id: 1,
      redirect: false,
    });
    const read = query?.data?.data.name;
    useEffect(() => setName(read ?? ''), [read]);
    const save = (): void => void onFinish({ name }).catch(() => undefined);
    return [
      h('input', {
        key: 1,
        value: name,
        onChange: ({ target }) => setName((target as unknown as { value: string }).value),
      }),
      h('button', { key: 2, onClick: save }),
    ];
  };

  const openReactAdmin = async (waitMs: number, Content?: FunctionComponent): Promise<Page> => {
    const [dataProvider, authProvider] = [
      admin.dataProvider(library.api, options),
      admin.authProvider(library.api, options),
    ];
    await authProvider.login(USER);
    aheadMs += waitMs;
    const Shelves: FunctionComponent = () => {
      ra.useAuthenticated();
      const { data, refetch } = ra.useGetList<{ id: number; name: string }>('shelves');
      const { permissions } = ra.usePermissions<string[]>();
      const { data: user } = ra.useGetIdentity();
      const { notifications }: { notifications: { message: unknown }[] } = ra.useNotificationContext();
      const shown = [data?.[0]?.name, permissions, user?.fullName, ...notifications.map(({ message }) => message)];
      return h('button', { onClick: () => void refetch() }, shown.join());
    };
    const context = h(ra.CoreAdminContext, { dataProvider, authProvider }, h(Content ?? Shelves));
    const locationCallback = ({ pathname }: { pathname: string }): void => void visited.push(pathname);
    return dom.render(h(ra.TestMemoryRouter, { locationCallback, children: context }));
  };

  const openRefine = async (waitMs: number, Content?: FunctionComponent): Promise<Page> => {
    const [dataProvider, authProvider] = [
      refineProviders.dataProvider(library.api, options),
      refineProviders.authProvider(library.api, options),
    ];
    await authProvider.login(USER);
    aheadMs += waitMs;
    const Shelves: FunctionComponent = () => {
      const { result, query } = refine.useList<{ id: number; name: string }>({ resource: 'shelves' });
      const { data: roles } = refine.usePermissions<string[]>({});
      const { data: user } = refine.useGetIdentity<{ name: string }>();
      return h(
        'button',
        { onClick: () => void query.refetch() },
        [result.data[0]?.name, roles, user?.name].join(),
        query.error?.message,
      );
    };
    const go = ({ to }: { to?: string }): void => void visited.push(String(to));
    const routerProvider = {
      go: () => go,
      back: () => () => undefined,
      parse: () => () => ({ pathname: '/' }),
      Link: () => null,
    } as never;
    const children: ReactElement = h(
      refine.Authenticated,
      { key: 'user', fallback: h('p', null, 'logged out') },
      h(Content ?? Shelves),
    );
    const notificationProvider = {
      open: ({ message, description }: { message: string; description?: string }) =>
        void notified.push(`${message} ${description}`),
      close: () => undefined,
    };
    const reactQuery = { clientConfig: { defaultOptions: { queries: { retry: false } } } };
    return dom.render(
      h(refine.Refine, {
        dataProvider,
        authProvider,
        routerProvider,
        notificationProvider,
        options: { disableTelemetry: true, reactQuery },
        children,
      }),
    );
  };

  describe.each([
    ['react-admin', openReactAdmin, ReactAdminForm],
    ['refine', openRefine, RefineForm],
  ])('%s', (name, open, Form) => {
    it('refreshes a token that has expired, and the user does not see it', async () => {
      page = await open(LIFETIME_MS + 100);
      const { until, text } = page;
      await until(() => expect(text()).toBe('Poems,ADMIN,Ann'));
      expect(options.sent.map(({ path }) => path)).toContain('/auth/refresh');
      expect([visited.includes('/login'), options.items.size]).toEqual([false, 1]);
    });

    const endSession = async (): Promise<void> => {
      const [stored = ''] = options.items.values();
      const { session } = JSON.parse(stored) as { session: { refreshToken: string } };
      const response = await fetch(`${library.api}/auth/logout`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ refreshToken: session.refreshToken }),
      });
      expect(response.status).toBe(204);
      aheadMs += LIFETIME_MS + 100;
    };

    it('keeps a form whose session has ended, says so, and saves it after a login elsewhere', async () => {
      page = await open(0, Form);
      const { until, text, click, type, find } = page;
      await until(() => expect(find('input').value).toBe('Poems'));
      await type('input', 'Sonnets');
      await endSession();
      await click('button');
      const shown = (): string => `${text()} ${notified.join(' ')}`;
      await until(() => expect(shown()).toContain('Your session has ended, and the change is not saved.'));
      expect(shown()).not.toMatch(/updated|success/i);
      expect([find('input').value, visited.includes('/login')]).toEqual(['Sonnets', false]);
      await admin.authProvider(library.api, options).login(USER);
      await click('button');
      await until(() => expect(shown()).toMatch(/updated|success/i));
      expect(options.sent.findLast(({ method }) => method === 'PATCH')?.body).toMatchObject({ name: 'Sonnets' });
      await library.fill(Shelf, [{ id: 1, name: 'Poems' }]);
    });

    it('logs the user out when the session has ended', async () => {
      page = await open(0);
      const { until, text, click } = page;
      await until(() => expect(text()).toBe('Poems,ADMIN,Ann'));
      await endSession();
      await click('button');
      await until(() => expect(visited).toContain('/login'));
      expect(options.items.size).toBe(0);
      // Whichever react-admin does first: the check of the login, or the request.
      const message = /ra\.(auth\.auth_check_error|notification\.logged_out)/;
      if (name === 'react-admin') await until(() => expect(text()).toMatch(message));
    });
  });
});
