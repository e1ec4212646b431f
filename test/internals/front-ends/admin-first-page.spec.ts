/** The requests of `AdminFor` until its first list is there, in react-admin's own routes and hooks, for the sample shop. */
import { createElement as h, type FunctionComponent } from 'react';
import { connectService, type Service } from '../../../packages/ra-data-declarest/admin/src/service.js';
import { AppModule } from '../../../sample-app/app.module.js';
import { readConfig } from '../../../sample-app/config.js';
import { serveDocs } from '../../../sample-app/docs.js';
import { type Dom, type Page, startDom } from '../../front-ends/dom.js';
import { type RunningApp, startApp } from '../../harness/platforms.js';

const dom: Dom = await startDom();
const ra = await import('ra-core');
afterAll(() => dom.close());

const ADMIN = { email: 'boss@shop.example', password: 'the boss of the shop' };

const REVIEWS = 'products/:productId/reviews';

let shop: RunningApp;
/** `GET /api/products 200`, in the order of the answers. */
const answered: string[] = [];
const send = globalThis.fetch;
const recorded = vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
  const answer = await send(input, init);
  const { pathname } = new URL(answer.url);
  answered.push(`${init?.method ?? 'GET'} ${pathname} ${answer.status}`);
  return answer;
});
beforeAll(async () => {
  const env = { DATABASE: ':memory:', ADMIN_EMAIL: ADMIN.email, ADMIN_PASSWORD: ADMIN.password };
  const config = { ...readConfig(env), jwtSecret: 'a secret of this test with 32 bytes' };
  shop = await startApp('express', AppModule.with(config), { configure: serveDocs });
});
afterAll(async () => {
  recorded.mockRestore();
  await shop.close();
});

/** Asks what the list of `AdminFor` asks, and shows the names of records. */
const List: FunctionComponent = () => {
  const mayDelete = ra.useCanAccess({ resource: 'products', action: 'delete' }).canAccess;
  const mayEdit = ra.useCanAccess({ resource: 'products', action: 'edit' }).canAccess;
  const mayCreate = ra.useCanAccess({ resource: 'products', action: 'create' }).canAccess;
  const { data: user } = ra.useGetIdentity();
  const { data = [] } = ra.useListContext();
  return h('p', null, [...data.map(({ name }) => name), mayDelete, mayEdit, mayCreate, user?.fullName].join());
};

const Login: FunctionComponent = () => {
  const login = ra.useLogin();
  return h('button', { onClick: () => void login({ username: ADMIN.email, password: ADMIN.password }) });
};

const Interface: FunctionComponent<{ service: Service }> = ({ service }) =>
  h(ra.CoreAdmin, {
    dataProvider: service.data,
    authProvider: service.auth,
    requireAuth: true,
    loginPage: Login,
    children: () =>
      service.resources.map(({ name }) =>
        h(ra.Resource, { key: name, name, list: h(ra.ListBase, { sort: { field: '', order: 'ASC' } }, h(List)) }),
      ),
  });

it.each([
  ['the description', '/admin/resources.json'],
  ['the whole document', '/docs-json'],
])('shows the first list after two requests, with %s', async (_, path) => {
  const service = connectService({ url: `${shop.url}/api`, document: `${shop.url}${path}` });
  const page: Page = await dom.render(h(Interface, { service }));
  await page.until(() => page.find('button'));
  answered.length = 0;
  await page.click('button');
  await page.until(() => expect(page.text()).toContain(`,true,true,true,${ADMIN.email}`));
  expect(page.text()).toContain('Bread knife');
  expect(answered).toEqual(['POST /api/auth/login 200', `GET ${path} 200`, 'GET /api/products 200']);
  await service.auth.logout({});
  await page.close();
});

it('asks the server what the user may do with a record', async () => {
  const user = { email: 'una@shop.example', password: 'buys in the shop' };
  const headers = { 'content-type': 'application/json' };
  await send(`${shop.url}/api/auth/register`, { method: 'POST', headers, body: JSON.stringify(user) });
  const { auth } = connectService({ url: `${shop.url}/api`, document: `${shop.url}/admin/resources.json` });
  await auth.login({ username: user.email, password: user.password });
  await auth.getPermissions();
  answered.length = 0;
  const may = (action: string, record?: object) =>
    auth.canAccess({ resource: REVIEWS, action, ...(record && { record }) });
  expect([await may('edit'), await may('create'), await may('list')]).toEqual([true, true, true]);
  expect(answered).toEqual([]);
  expect(await may('edit', { id: 1, productId: 1, authorId: 0 })).toBe(false);
  expect(answered).toEqual(['GET /api/auth/access 200']);
  await auth.logout({});
});
