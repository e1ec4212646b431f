import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { ExpressAdapter } from 'declarest/express';
import type { App } from 'supertest/types.js';
import request from 'supertest';

import { AppModule } from '../app.module.js';
import { readConfig } from '../config.js';

export const SHOP_ORIGIN = 'https://front.example';

const ADMIN = { email: 'boss@shop.example', password: 'the boss of the shop' };

export interface Shop {
  readonly app: INestApplication<App>;
  /** Tokens of the administrator, of a member of the staff, and of a customer with id 2. */
  readonly admin: string;
  readonly staff: string;
  readonly customer: string;
}

/** The shop with an empty database in memory, which its first start fills. */
export async function createShop(): Promise<Shop> {
  const config = readConfig({
    DATABASE: ':memory:',
    JWT_SECRET: 'only-for-tests-0123456789-0123456789',
    SHOP_ORIGIN,
    ADMIN_EMAIL: ADMIN.email,
    ADMIN_PASSWORD: ADMIN.password,
  });
  const module = await Test.createTestingModule({ imports: [AppModule.with(config)] }).compile();
  const app = module.createNestApplication<INestApplication<App>>(new ExpressAdapter());
  await app.init();

  const admin = await login(app, ADMIN.email, ADMIN.password);
  const ann = await register(app, 'ann@shop.example');
  const sam = await register(app, 'sam@shop.example');
  await request(app.getHttpServer())
    .put(`/api/admin/staff/${sam.id}`)
    .auth(admin, { type: 'bearer' })
    .expect(200, { email: 'sam@shop.example', role: 'STAFF' });
  return { app, admin, staff: await login(app, 'sam@shop.example'), customer: ann.token };
}

export const PASSWORD = 'correct horse battery';

export async function register(app: INestApplication<App>, email: string): Promise<{ id: number; token: string }> {
  const { body } = await request(app.getHttpServer())
    .post('/api/auth/register')
    .send({ email, password: PASSWORD })
    .expect(201);
  return { id: body.data.user.id, token: body.data.token };
}

export async function login(app: INestApplication<App>, email: string, password = PASSWORD): Promise<string> {
  const { body } = await request(app.getHttpServer()).post('/api/auth/login').send({ email, password }).expect(200);
  return body.data.token;
}
