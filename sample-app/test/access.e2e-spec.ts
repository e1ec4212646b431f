import request from 'supertest';

import { createShop, type Shop, SHOP_ORIGIN } from './shop.js';

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

describe('Access (e2e)', () => {
  let shop: Shop;

  beforeAll(async () => {
    shop = await createShop();
  });

  afterAll(async () => {
    await shop.app.close();
  });

  it.each<[method: Method, path: string, anonymous: number, asCustomer: number, asStaff: number]>([
    ['get', '/api/products', 200, 200, 200],
    ['get', '/api/products/1', 200, 200, 200],
    ['get', '/api/products/search?q=TEA', 200, 200, 200],
    ['get', '/api/products/exists/1', 200, 200, 200],
    ['get', '/api/products/export?format=csv', 200, 200, 200],
    ['get', '/api/products/1/reviews', 200, 200, 200],
    ['get', '/api/categories/1', 200, 200, 200],
    ['post', '/api/products', 401, 403, 400],
    ['put', '/api/products/1', 401, 403, 400],
    ['patch', '/api/products/1', 401, 403, 200],
    ['delete', '/api/products/99', 401, 403, 404],
    ['post', '/api/products/batch', 401, 403, 400],
    ['patch', '/api/products/batch', 401, 403, 400],
    ['delete', '/api/products/batch?ids=99', 401, 403, 404],
    ['post', '/api/products/1/restore', 401, 403, 403],
    ['post', '/api/categories', 401, 403, 400],
    ['patch', '/api/categories/1', 401, 403, 200],
    ['delete', '/api/categories/99', 401, 403, 404],
    ['post', '/api/products/1/reviews', 401, 400, 400],
    ['get', '/api/orders', 401, 200, 200],
    ['post', '/api/orders', 401, 400, 400],
    ['delete', '/api/orders/1', 401, 403, 403],
    ['get', '/api/admin/overview', 401, 403, 403],
    ['put', '/api/admin/staff/1', 401, 403, 403],
    ['get', '/api/users', 401, 403, 403],
    ['get', '/api/auth/users', 401, 403, 403],
    ['patch', '/api/auth/users/1', 401, 403, 403],
    ['post', '/api/auth/users/1/reset', 401, 403, 403],
    ['delete', '/api/auth/users/1/sessions', 401, 403, 403],
    ['get', '/api/auth/sessions', 401, 200, 200],
  ])(
    '[3.2] %s %s answers %i without a token, %i to customers and %i to the staff',
    async (method, path, anonymous, asCustomer, asStaff) => {
      const send = () => {
        const test = request(shop.app.getHttpServer())[method](path);
        return method === 'get' || method === 'delete' ? test : test.send({});
      };
      await send().expect(anonymous);
      await send().auth(shop.customer, { type: 'bearer' }).expect(asCustomer);
      await send().auth(shop.staff, { type: 'bearer' }).expect(asStaff);
    },
  );

  it.each([
    '/api/products/1',
    '/api/categories',
    '/api/products/1/reviews',
    '/api/orders/1',
    '/api/users/1',
    '/api/auth/login',
  ])('[5] the preflight of the shop front for %s', (path) =>
    request(shop.app.getHttpServer())
      .options(path)
      .set({ Origin: SHOP_ORIGIN, 'Access-Control-Request-Method': 'POST' })
      .expect('access-control-allow-origin', SHOP_ORIGIN)
      .expect(204, ''),
  );

  it('[5] no preflight for the admin area', async () => {
    const { headers } = await request(shop.app.getHttpServer())
      .options('/api/admin/overview')
      .set({ Origin: SHOP_ORIGIN, 'Access-Control-Request-Method': 'POST' })
      .expect(404);
    expect(headers).not.toHaveProperty('access-control-allow-origin');
  });
});
