/** Columns and inputs in a page of react-admin: those that the server does not allow are left out. */
import { createElement as h } from 'react';
import { authProvider, usePermittedFields } from 'ra-data-declarest';
import { PASSWORD, recordedOptions, type Service } from './admin-service.js';
import { type Dom, startDom } from './dom.js';
import { startShop } from './shop-service.js';

const dom: Dom = await startDom();
const ra = await import('ra-core');
let shop: Service;
beforeAll(async () => {
  shop = await startShop('express');
});
afterAll(async () => {
  await shop.close();
  await dom.close();
});

const Field = ({ source }: { source: string; reference?: string }) => h('i', null, source);
const Fields = ({ action }: { action: 'read' | 'write' }) => {
  const children = [
    h(Field, { key: 1, source: 'name' }),
    h(Field, { key: 2, source: 'cost' }),
    h(Field, { key: 3, source: 'id', reference: 'letters' }),
    h('b', { key: 4 }, 'end'),
  ];
  return h('p', null, usePermittedFields(children, action));
};

it.each([
  ['nobody', 'read', 'nameend'],
  ['ann', 'read', 'nameidend'],
  ['sam', 'read', 'namecostidend'],
  ['ann', 'write', 'nameend'],
  ['eve', 'write', 'namecostend'],
] as const)('%s may %s %s', async (name, action, text) => {
  const auth = authProvider(shop.api, recordedOptions(shop.api));
  if (name !== 'nobody') await auth.login({ email: `${name}@example.com`, password: PASSWORD });
  const fields = h(ra.ResourceContextProvider, { value: 'lamps', children: h(Fields, { action }) });
  const context = h(ra.CoreAdminContext, { authProvider: auth }, fields);
  const page = await dom.render(h(ra.TestMemoryRouter, { children: context }));
  // Without an answer, only children without a source are there.
  await page.until(() => expect(page.text()).toBe(text));
  await page.close();
});
