/** The shop through openapi-typescript and openapi-fetch. */
import createClient from 'openapi-fetch';
import type { paths } from './generated/shop.js';
import { describeSteps, NEW_PRODUCT, QUERY, WRONG_PRODUCT, type Login } from './steps.js';

export async function useShop(baseUrl: string, credentials: Login): Promise<string[]> {
  const shop = createClient<paths>({ baseUrl });
  const login = await shop.POST('/api/auth/login', { body: credentials });
  const body = { refreshToken: login.data?.data.refreshToken ?? '' };
  const refreshed = await shop.POST('/api/auth/refresh', { body });
  const token = refreshed.data?.data.token;
  shop.use({
    onRequest({ request }) {
      request.headers.set('Authorization', `Bearer ${token}`);
      return request;
    },
  });
  const { data: page } = await shop.GET('/api/products', { params: { query: QUERY } });
  const total: number | undefined = page?.metadata.pagination.total;
  const created = await shop.POST('/api/products', { body: NEW_PRODUCT });
  const id: number | undefined = created.data?.data.id;
  const params = { path: { id: id ?? 0 } };
  const patched = await shop.PATCH('/api/products/{id}', { params, body: { price: 13 } });
  // @ts-expect-error A price is a number.
  const refused = await shop.POST('/api/products', { body: WRONG_PRODUCT });
  const failure = refused.error;
  return describeSteps({
    token,
    products: page?.data ?? [],
    total,
    created: { status: created.response.status, id },
    patched: patched.data?.message,
    refused: {
      status: refused.response.status,
      problem: failure && 'fields' in failure ? failure.fields?.['price'] : undefined,
    },
  });
}
