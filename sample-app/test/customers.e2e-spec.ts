import request from 'supertest';

import { createShop, PASSWORD, register, type Shop } from './shop.js';

describe('Customers (e2e)', () => {
  let shop: Shop;

  beforeAll(async () => {
    shop = await createShop();
  });

  afterAll(async () => {
    await shop.app.close();
  });

  const server = () => request(shop.app.getHttpServer());
  const get = (path: string, token: string) => server().get(path).auth(token, { type: 'bearer' });
  const total = async (token: string): Promise<number> =>
    (await get('/api/orders', token).expect(200)).body.metadata.pagination.total;

  it('[9.2] shows orders to their customer and to administrators only', async () => {
    const { admin, staff, customer } = shop;
    const order = { productId: 2, quantity: 2 };
    const place = (token: string, json: object) =>
      server().post('/api/orders').auth(token, { type: 'bearer' }).send(json);
    const patch = (token: string) =>
      server().patch('/api/orders/1').auth(token, { type: 'bearer' }).send({ quantity: 3 });
    const placed = await place(customer, order).expect(201);
    expect(placed.body.data).toEqual({ ...order, id: 1, customerId: 2, placedAt: expect.any(String) });
    for (const token of [customer, admin]) {
      expect(await total(token)).toBe(1);
      await get('/api/orders/1', token).expect(200);
      await patch(token).expect(200);
    }
    expect(await total(staff)).toBe(0);
    await get('/api/orders/1', staff).expect(404);
    await patch(staff).expect(404);
    await place(staff, { ...order, customerId: 2 }).expect(400);
    await server().delete('/api/orders/1').auth(admin, { type: 'bearer' }).expect(200);
  });

  it('[8.6] places an order once, however often the request is sent', async () => {
    const place = (key: string, quantity: number) =>
      server()
        .post('/api/orders')
        .auth(shop.customer, { type: 'bearer' })
        .set('Idempotency-Key', key)
        .send({ productId: 4, quantity });
    const before = await total(shop.customer);
    const first = await place('checkout-1', 1).expect(201);
    expect(first.headers).not.toHaveProperty('idempotency-replayed');
    const repeated = await place('checkout-1', 1).expect(201, first.body);
    expect(repeated.headers).toMatchObject({
      'idempotency-replayed': 'true',
      location: first.headers['location'],
    });
    await place('checkout-1', 2).expect(422);
    expect(await total(shop.customer)).toBe(before + 1);
    const second = await place('checkout-2', 1).expect(201);
    expect(second.body.data.id).not.toBe(first.body.data.id);
    expect(await total(shop.customer)).toBe(before + 2);
  });

  it('[2.6] lets administrators see users without passwords', async () => {
    const { body } = await get('/api/users?filter[role]=ADMIN', shop.admin).expect(200);
    expect(body.data).toEqual([expect.objectContaining({ email: 'boss@shop.example', role: 'ADMIN', active: true })]);
    expect(body.data[0]).not.toHaveProperty('password');
  });

  it('lets administrators change users and end their sessions, but not demote the last ADMIN', async () => {
    const { admin } = shop;
    const { id, token } = await register(shop.app, 'eve@shop.example');
    const patch = (user: number, json: object) =>
      server().patch(`/api/auth/users/${user}`).auth(admin, { type: 'bearer' }).send(json);
    const named = (await patch(id, { firstName: 'Eve' }).expect(200)).body.data.user;
    expect(named).toMatchObject({ email: 'eve@shop.example', firstName: 'Eve', role: 'USER', active: true });
    expect((await get('/api/auth/users?q=EVE&filter[active]=true', admin).expect(200)).body.data).toEqual([named]);
    await get('/api/auth/me', token).expect(200);
    await server().delete(`/api/auth/users/${id}/sessions`).auth(admin, { type: 'bearer' }).expect(204);
    await get('/api/auth/me', token).expect(401);

    const [last] = (await get('/api/auth/users?filter[role]=ADMIN', admin).expect(200)).body.data;
    expect((await patch(last.id, { role: 'USER' }).expect(409)).body.success).toBe(false);
  });

  it('refreshes and ends a session', async () => {
    const post = (path: string, json: object) => server().post(`/api/auth/${path}`).send(json);
    const { data } = (await post('login', { email: 'ann@shop.example', password: PASSWORD }).expect(200)).body;
    expect(data.expiresIn).toBe(900);
    const refreshed = (await post('refresh', { refreshToken: data.refreshToken }).expect(200)).body.data;
    const sessions = await get('/api/auth/sessions', refreshed.token).expect(200);
    expect(sessions.body.data.filter(({ current }: { current: boolean }) => current)).toHaveLength(1);
    await server().post('/api/auth/logout').auth(refreshed.token, { type: 'bearer' }).expect(204);
    await post('refresh', { refreshToken: refreshed.refreshToken }).expect(401);
  });
});
