/** What a user may do in the shop, through declarest-client with the types of openapi-typescript. */
import { createClient } from 'declarest-client';
import type { paths } from './generated/shop.js';
import type { Login } from './steps.js';

export async function useShop(baseUrl: string, credentials: Login): Promise<string[]> {
  const shop = createClient<paths>(`${baseUrl}/api`);
  const record = { id: 1, customerId: 1 };
  const describe = async (): Promise<string> => {
    const allowed = [
      await shop.can('findAll', 'products'),
      await shop.can('restore', 'products'),
      await shop.can('create', 'products/:productId/reviews'),
      await shop.can('update', 'orders', record),
    ];
    const { read = [] } = (await shop.access('products')) ?? {};
    return `${allowed.join()} ${read.includes('cost') ? 'with' : 'without'} cost`;
  };
  const before = await describe();
  await shop.login(credentials);
  const orders = await shop.access('orders');
  const wrong = [
    // @ts-expect-error Orders are not exported.
    await shop.can('export', 'orders'),
    // @ts-expect-error The resource is called orders.
    await shop.can('update', 'order', record),
    // @ts-expect-error An order has no price.
    orders?.update.includes('price'),
  ];
  return [`before the login: ${before}`, `ADMIN: ${await describe()}`, `no such name: ${wrong.join()}`];
}
