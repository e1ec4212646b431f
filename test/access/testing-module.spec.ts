import type { AddressInfo } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { SecurityRulesGuard } from 'declarest';
import { request } from '../harness/client.js';
import { type Platform, PLATFORMS } from '../harness/platforms.js';
import { ruledModule, TOKENS } from './ruled-app.js';

const adapterOf = (platform: Platform) => (platform === 'express' ? new ExpressAdapter() : new FastifyAdapter());

const statuses = async (app: INestApplication): Promise<number[]> => {
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  const ask = async (path: string, token?: string) =>
    (await request(`http://127.0.0.1:${port}`, 'GET', path, token === undefined ? {} : { token })).status;
  const found = [
    await ask('/open'),
    await ask('/admin'),
    await ask('/admin', TOKENS.USER),
    await ask('/admin', TOKENS.ADMIN),
    await ask('/nowhere'),
    await ask('/outside'),
  ];
  await app.close();
  return found;
};

const module = () =>
  ruledModule({
    routes: ['GET open', 'GET admin'],
    rules: ({ publicEndpoints, requireRole }) => {
      publicEndpoints('/open');
      requireRole('ADMIN', '/admin', '/outside/**');
    },
  });

describe.each(PLATFORMS)('under @nestjs/testing on %s', (platform) => {
  it('[1] a builder that is compiled twice gives two applications with the same rules', async () => {
    const builder = Test.createTestingModule(module()).setLogger(false as never);
    for (const time of ['first', 'second']) {
      const app = (await builder.compile()).createNestApplication<INestApplication>(adapterOf(platform));
      expect([time, await statuses(app)]).toEqual([time, [200, 401, 403, 200, 404, 401]]);
    }
  });

  it('[1] a test can override the guard', async () => {
    const built = await Test.createTestingModule(module())
      .setLogger(false as never)
      .overrideProvider(SecurityRulesGuard)
      .useValue({ canActivate: () => true })
      .compile();
    const app = built.createNestApplication<INestApplication>(adapterOf(platform));
    expect((await statuses(app)).slice(0, 4)).toEqual([200, 200, 200, 200]);
  });
});
