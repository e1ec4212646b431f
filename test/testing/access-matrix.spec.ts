import { type CanActivate, Controller, Get, Injectable, Post, UseGuards, VersioningType } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { AccessReport, Roles, SecurityConfig } from 'declarest';
import { accessMatrix, as, type MatrixRow } from 'declarest/testing';
import { type Platform, PLATFORMS, startApp } from '../harness/platforms.js';
import { startShop } from '../harness/shop.js';
import { type RuledParts, wildcard } from '../access/ruled-app.js';
import { startSpellingApp } from '../access/spelling-app.js';
import { createRuled } from './created-app.js';

const lines = (rows: readonly MatrixRow[]): string[] =>
  rows.map(({ sent, as, declared, observed }) => `${sent} as ${as}: ${declared}, ${observed}`);
const disagreeing = (rows: readonly MatrixRow[]): string[] => lines(rows.filter(({ agrees }) => !agrees));

const parts = (platform: Platform): RuledParts => ({
  routes: [
    'GET open/page',
    'ALL open/any/:id',
    'GET api/users/:id',
    `GET ${wildcard(platform, 'api/files')}`,
    'DELETE api/orders/:id',
  ],
  rules: ({ publicEndpoints, requireAuth, requireRole }) => {
    publicEndpoints('/open/**', '/api/users/me');
    requireAuth('/api/**', 'POST /open/any/*');
    requireRole('ADMIN', 'DELETE /api/**', '/api/files/secret/**');
    requireRole('EDITOR', '/api/files/*');
  },
});

describe.each(PLATFORMS)('accessMatrix(app) on %s', (platform) => {
  it('sends a request for every row and role, and runs no handler', async () => {
    const { app, entered } = await createRuled(platform, parts(platform));
    const rows = await accessMatrix(app);
    expect([disagreeing(rows), entered]).toEqual([[], []]);
    const tried = new Set(rows.map(({ method, path }) => `${method} ${path}`));
    expect(tried).toEqual(new Set(app.get(AccessReport).rows.map(({ method, path }) => `${method} ${path}`)));
    expect(lines(rows)).toEqual(
      expect.arrayContaining([
        ...['anonymous', 'USER', 'ADMIN', 'EDITOR'].map((role) => `GET /open/page as ${role}: allowed, allowed`),
        'POST /open/any/1 as anonymous: 401, 401',
        'GET /open/any/1 as anonymous: allowed, allowed',
        'GET /api/users/1 as anonymous: 401, 401',
        'GET /api/users/me as anonymous: allowed, allowed',
        'GET /api/files/1/1 as USER: allowed, allowed',
        'GET /api/files/1 as USER: 403, 403',
        'GET /api/files/secret/1 as EDITOR: 403, 403',
        'GET /api/files/secret/1 as ADMIN: allowed, allowed',
        'DELETE /api/orders/1 as ADMIN: allowed, allowed',
        'POST /api/auth/login as anonymous: allowed, allowed',
      ]),
    );
    await app.close();
  });

  it('reports a guard that does not decide as declared, and runs no handler then either', async () => {
    const open = await createRuled(platform, parts(platform), { canActivate: async () => true });
    expect(disagreeing(await accessMatrix(open.app))).toContain('DELETE /api/orders/1 as anonymous: 401, allowed');
    expect(open.entered).toEqual([]);
    // Other requests are not affected, also with a header of that name.
    const headers = { 'x-declarest-probe': 'undefined' };
    const { status } = await as(open.app).request('DELETE', '/api/orders/1', { headers });
    expect([status, open.entered.map(({ route }) => route)]).toEqual([200, ['DELETE api/orders/:id']]);
    await open.app.close();
    const closed = await createRuled(platform, parts(platform), { canActivate: async () => false });
    expect(disagreeing(await accessMatrix(closed.app))).toContain('GET /open/page as anonymous: allowed, 403');
    await closed.app.close();
  });

  it('agrees where patterns match a part of a route', async () => {
    const { app, entered, close } = await startSpellingApp(platform, 'unusual');
    const rows = await accessMatrix(app);
    // Express compares its template with the escaped path, so that no request reaches this route.
    const unreachable = platform === 'express' ? rows.filter(({ path }) => path.startsWith('/open/café/')) : [];
    expect(disagreeing(rows)).toEqual(lines(unreachable));
    expect(unreachable.every(({ observed }) => observed === 404)).toBe(true);
    expect(lines(rows)).toEqual(
      expect.arrayContaining([
        'GET /open/wild/1/1 as anonymous: allowed, allowed',
        'GET /open/wild/1 as anonymous: 401, 401',
        'GET /open/wild/deep/1 as anonymous: 401, 401',
      ]),
    );
    expect(entered).toEqual([]);
    await close();
  });

  it('changes no record of generated endpoints', async () => {
    const shop = await startShop(platform);
    const headers = { authorization: `Bearer ${await shop.admin()}` };
    const json = { name: 'Lamp', price: 1, stock: 3 };
    await as(shop.app).request('POST', '/api/products', { json, headers });
    const rows = await accessMatrix(shop.app);
    expect(disagreeing(rows)).toEqual([]);
    expect(lines(rows)).toContain('DELETE /api/products/1 as ADMIN: allowed, allowed');
    expect((await as(shop.app).get('/api/products')).json.data).toEqual([expect.objectContaining(json)]);
    await shop.close();
  });

  it('includes decorators, the hierarchy, and routes and mounts of main.ts', async () => {
    @Controller('api/decorated')
    @Roles('ADMIN')
    class DecoratedController {
      @Get('admins')
      admins() {
        throw new Error('The handler ran.');
      }
    }
    const outside: string[] = [];
    const { app } = await createRuled(platform, {
      controllers: [DecoratedController],
      auth: { roleHierarchy: { BOSS: ['ADMIN'] } },
      rules: ({ requireAuth }) => requireAuth('/api/**', '/metrics', '/legacy/**'),
      configure: (app) => {
        const answer = (request: { url: string }, response: unknown): void => {
          outside.push(request.url);
          app.getHttpAdapter().reply(response as never, 'up', 200);
        };
        app.getHttpAdapter().get('/metrics', answer as never);
        if (platform === 'express') app.use('/legacy', answer);
      },
    });
    const rows = await accessMatrix(app);
    expect([disagreeing(rows), outside]).toEqual([[], []]);
    const mounts = platform === 'express' ? ['GET /legacy/1 as anonymous: 401, 401'] : [];
    expect(lines(rows)).toEqual(
      expect.arrayContaining([
        'GET /api/decorated/admins as USER: 403, 403',
        'GET /api/decorated/admins as BOSS: allowed, allowed',
        'GET /metrics as anonymous: 401, 401',
        'GET /metrics as USER: allowed, allowed',
        ...mounts,
      ]),
    );
    expect((await as(app, { roles: ['USER'] }).get('/metrics')).text).toBe('up');
    expect(outside).toEqual(['/metrics']);
    await app.close();
  });

  it('calls policies, and accepts either answer of theirs', async () => {
    @Injectable()
    class Policies extends SecurityConfig {
      configure(): void {
        this.requirePolicy('never', () => false, '/api/never');
        this.requirePolicy('always', async () => true, '/api/always');
        this.requireRole('ADMIN', '/api/always');
      }
    }
    const routes = ['GET api/never', 'GET api/always'];
    const { app, entered } = await createRuled(platform, { routes, rules: false, providers: [Policies] });
    const rows = await accessMatrix(app);
    expect([disagreeing(rows), entered]).toEqual([[], []]);
    expect(lines(rows)).toEqual(
      expect.arrayContaining([
        'GET /api/never as ADMIN: policy, 403',
        'GET /api/always as USER: 403, 403',
        'GET /api/always as ADMIN: policy, allowed',
      ]),
    );
    await app.close();
  });

  it('reports the status of other global guards, and sends headers that select a version', async () => {
    @Injectable()
    class Busy implements CanActivate {
      canActivate(): boolean {
        throw Object.assign(new Error('busy'), { statusCode: 429 });
      }
    }
    @Controller({ path: 'api/versioned', version: '2' })
    class VersionedController {
      @Get()
      get() {}

      // Guards of a route run after the global guards, so a probe does not reach them.
      @Post()
      @UseGuards(Busy)
      post() {}
    }
    const versioned = (providers: NonNullable<RuledParts['providers']>) =>
      createRuled(platform, {
        controllers: [VersionedController],
        providers,
        configure: (app) => void app.enableVersioning({ type: VersioningType.HEADER, header: 'X-Version' }),
      });
    const { app } = await versioned([]);
    expect(disagreeing(await accessMatrix(app, { headers: { 'X-Version': '2' } }))).toEqual([]);
    expect(disagreeing(await accessMatrix(app))).toContain('GET /api/versioned as USER: allowed, 404');
    await app.close();
    const busy = await versioned([{ provide: APP_GUARD, useClass: Busy }]);
    const rows = await accessMatrix(busy.app, { headers: { 'X-Version': '2' } });
    expect(disagreeing(rows)).toContain('GET /api/versioned as USER: allowed, 500');
    await busy.app.close();
  });
});

it('refuses an application without AuthModule', async () => {
  const { app, close } = await startApp('express', {});
  await expect(accessMatrix(app)).rejects.toThrow(
    'the application must be one with AuthModule or AccessModule, got one without. ',
  );
  await close();
});
