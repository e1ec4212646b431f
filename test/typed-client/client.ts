/** What a front end does with the typed client of the shop. Run by `npm run test:client`. @returns a line for each step */
import createClient from 'openapi-fetch';
import type { paths } from './shop.js';

export async function useShop(baseUrl: string, email: string, password: string): Promise<string[]> {
  const shop = createClient<paths>({ baseUrl, querySerializer: { array: { style: 'form', explode: false } } });
  const login = await shop.POST('/api/auth/login', { body: { email, password } });
  const refreshed = await shop.POST('/api/auth/refresh', {
    body: { refreshToken: login.data?.data.refreshToken ?? '' },
  });
  const token = refreshed.data?.data.token;
  shop.use({
    onRequest({ request }) {
      request.headers.set('Authorization', `Bearer ${token}`);
      return request;
    },
  });

  const { data: page } = await shop.GET('/api/products', {
    params: {
      query: { page: 1, size: 2, sort: ['-price'], 'filter[price]': { gte: 20, lt: 40 }, include: ['category'] },
    },
  });
  const prices = page?.data.map(({ price }) => Number(price)) ?? [];
  const category: string | undefined = page?.data[0]?.category?.name;
  const total: number | undefined = page?.metadata?.pagination?.total;

  const created = await shop.POST('/api/products', {
    body: { name: 'Milk jug', price: 12.5, stock: 3, categoryId: 1 },
  });
  const id = created.data?.data.id;

  // @ts-expect-error A price is a number.
  const refused = await shop.POST('/api/products', { body: { name: 'Cup', price: 'cheap', stock: 3, categoryId: 1 } });
  const failure = refused.error;
  const problem = failure && 'fields' in failure ? failure.fields?.['price'] : undefined;

  const { data: users } = await shop.GET('/api/auth/users', { params: { query: { 'filter[role]': 'ADMIN' } } });
  const administrator: string | null | undefined = users?.data[0]?.email;

  const { response } = await shop.GET('/api/products/{id}', { params: { path: { id: id ?? 0 } } });
  return [
    `logged in: ${typeof token}, ${refreshed.data?.data.expiresIn}`,
    `page: ${prices.length} of ${total}, ${prices.every((price) => price >= 20 && price < 40)}, ${typeof category}`,
    `created: ${created.response.status}, ${typeof id}`,
    `refused: ${refused.response.status}, ${problem}`,
    `read: ${response.status}`,
    `administrators: ${users?.metadata.pagination.total}, ${administrator}`,
  ];
}
