import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { as } from 'declarest/testing';
import request from 'supertest';
import type { App } from 'supertest/types.js';

import { createAdapter } from '../app/platform.js';
import { ShopModule } from '../app/shop.js';

describe('ShopModule (e2e)', () => {
  let app: INestApplication<App>;

  beforeAll(async () => {
    const module = await Test.createTestingModule({ imports: [ShopModule] }).compile();
    app = module.createNestApplication(createAdapter());
    await app.init();
    // Fastify needs it, and Express does not have it.
    await app.getHttpAdapter().getInstance().ready?.();
  });

  afterAll(async () => {
    await app.close();
  });

  const login = async (email: string, password: string): Promise<string> => {
    const { body } = await request(app.getHttpServer()).post('/api/auth/login').send({ email, password }).expect(200);
    return body.data.token;
  };

  it('refuses a wrong password', () =>
    request(app.getHttpServer())
      .post('/api/auth/login')
      .send({ email: 'boss@shop.example', password: 'the wrong boss' })
      .expect(401));

  it('lists products without a token, and creates none', async () => {
    const { body } = await request(app.getHttpServer()).get('/api/products').expect(200);
    expect(body).toMatchObject({ success: true, data: [] });
    await request(app.getHttpServer()).post('/api/products').send({ name: 'Jug', price: 9 }).expect(401);
  });

  it('creates a product as the user of a login, and checks its body', async () => {
    const token = await login('boss@shop.example', 'the boss of the shop');
    const create = (json: object) =>
      request(app.getHttpServer()).post('/api/products').auth(token, { type: 'bearer' }).send(json);
    const { body, headers } = await create({ name: 'Jug', price: 9 }).expect(201);
    expect(headers['location']).toBe(`/api/products/${body.data.id}`);
    await create({ name: 'J', price: 9 }).expect(400);
    await request(app.getHttpServer()).get(headers['location']!).expect(200);
  });

  it('takes tokens of declarest/testing', async () => {
    const user = as(app, { roles: ['USER'], email: 'ann@shop.example' });
    expect((await user.post('/api/categories', { name: 'Jugs' })).status).toBe(201);
    expect((await as(app).post('/api/categories', { name: 'Cups' })).status).toBe(401);
  });
});
