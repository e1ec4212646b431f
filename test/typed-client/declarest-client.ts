/** The shop through declarest-client, with the types of openapi-typescript. */
import { createClient, Failure } from 'declarest-client';
import type { paths } from './generated/shop.js';
import { describeSteps, NEW_PRODUCT, QUERY, WRONG_PRODUCT, type Login } from './steps.js';

export async function useShop(baseUrl: string, credentials: Login): Promise<string[]> {
  const shop = createClient<paths>(`${baseUrl}/api`);
  await shop.login(credentials);
  const page = await shop.request('GET', 'products', { query: QUERY });
  const total: number = page.metadata.pagination.total;
  const created = await shop.request('POST', 'products', { json: NEW_PRODUCT });
  const params = { id: created.data.id };
  const patched = await shop.request('PATCH', 'products/:id', { params, json: { price: 13 }, seen: created.data });
  // @ts-expect-error A price is a number.
  const refused: unknown = await shop.request('POST', 'products', { json: WRONG_PRODUCT }).catch((error) => error);
  if (!(refused instanceof Failure)) throw new Error('The product was not refused.');
  return describeSteps({
    token: await shop.token(),
    products: page.data,
    total,
    // Every other status is a failure.
    created: { status: 201, id: params.id },
    patched: patched.message,
    refused: { status: refused.status, problem: refused.fields['price'] },
  });
}

/** Writes a batch, exports it, and removes it. */
export async function moveRecords(baseUrl: string, credentials: Login): Promise<string[]> {
  const shop = createClient<paths>(`${baseUrl}/api`);
  await shop.login(credentials);
  const items = ['Sofa', 'Bed'].map((name) => ({ name, price: 900, stock: 1 }));
  const { data: created } = await shop.request('POST', 'products/batch', { json: { items } });
  const ids: number[] = created.map(({ id }) => id);
  const names: string[] = [];
  const query = { sort: ['name' as const], 'filter[price][gte]': 900 };
  for await (const { name } of shop.lines('GET', 'products/export', { query: { ...query, format: 'ndjson' } }))
    names.push(name);
  const file = await shop.stream('GET', 'products/export', { query: { ...query, format: 'csv', fields: ['price'] } });
  const { data: removed } = await shop.request('DELETE', 'products/batch', { query: { ids } });
  const wrong = async () => [
    // @ts-expect-error The resource is called products.
    await shop.request('GET', 'product'),
    // @ts-expect-error Products have no such parameter.
    await shop.request('GET', 'products', { query: { colour: 'red' } }),
    // @ts-expect-error A product has no colour.
    await shop.request('PATCH', 'products/:id', { params: { id: 1 }, json: { colour: 'red' } }),
  ];
  return [names.join(), (await file.text()).replaceAll('\r\n', ' ').trim(), `${removed}`, typeof wrong];
}
