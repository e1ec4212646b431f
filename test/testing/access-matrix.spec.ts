import { type CanActivate, Controller, Get, Injectable, Post, UseGuards, VersioningType } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { AccessReport, Public, Roles, SecurityConfig } from 'declarest';
import { accessMatrix, as, type MatrixRow } from 'declarest/testing';
import { type Platform, PLATFORMS, startApp } from '../harness/platforms.js';
import { startShop } from '../harness/shop.js';
import { type RuledParts, wildcard } from '../access/ruled-app.js';
import { ROUTERS, startSpellingApp } from '../access/spelling-app.js';
import { createRuled } from './created-app.js';

const lines = (rows: readonly MatrixRow[]): string[] =>
  rows.map(({ sent, as, declared, observed }) => `${sent} as ${as}: ${declared}, ${observed}`);
const disagreeing = (rows: readonly MatrixRow[]): string[] => lines(rows.filter(({ agrees }) => !agrees));

const shopLike = (platform: Platform): RuledParts => ({
  routes: [
    'GET open/page',
    'ALL open/any/:id',
    'GET api/users/:id',
    `GET ${wildcard(platform, 'api/files')}`,
    'POST api/orders',
    'DELETE api/orders/:id',
    'GET api/nobody',
  ],
  rules: ({ publicEndpoints, requireAuth, requireRole }) => {
    publicEndpoints('/open/**', '/api/users/me');
    requireAuth('/api/**', 'POST /open/any/*');
    requireRole('ADMIN', 'DELETE /api/**', '/api/files/secret/**');
    requireRole('EDITOR', '/api/files/*');
    requireRole('USER', '/api/orders');
  },
});

describe.each(PLATFORMS)('accessMatrix(app) on %s', (platform) => {
  it('asks every row as anonymous and as each role that rules name, and enters no handler', async () => {
    const { app, entered } = await createRuled(platform, shopLike(platform));
    const rows = await accessMatrix(app);
    expect(entered).toEqual([]);
    expect(disagreeing(rows)).toEqual([]);
    const asked = new Set(rows.map(({ method, path }) => `${method} ${path}`));
    expect(asked).toEqual(new Set(app.get(AccessReport).rows.map(({ method, path }) => `${method} ${path}`)));
    expect(rows.filter(({ path }) => path === '/open/page').map(({ as }) => as)).toEqual([
      'anonymous',
      'USER',
      'ADMIN',
      'EDITOR',
    ]);
    expect(lines(rows)).toEqual(
      expect.arrayContaining([
        'GET /open/page as anonymous: allowed, allowed',
        'POST /open/any/1 as anonymous: 401, 401',
        'GET /open/any/1 as anonymous: allowed, allowed',
        'GET /api/users/1 as anonymous: 401, 401',
        'GET /api/users/me as anonymous: allowed, allowed',
        'GET /api/files/1/1 as USER: allowed, allowed',
        'GET /api/files/1 as USER: 403, 403',
        'GET /api/files/1 as EDITOR: allowed, allowed',
        'GET /api/files/secret/1 as EDITOR: 403, 403',
        'GET /api/files/secret/1 as ADMIN: allowed, allowed',
        'POST /api/orders as anonymous: 401, 401',
        'DELETE /api/orders/1 as USER: 403, 403',
        'DELETE /api/orders/1 as ADMIN: allowed, allowed',
        'POST /api/auth/login as anonymous: allowed, allowed',
        'GET /api/auth/me as anonymous: 401, 401',
      ]),
    );
    await app.close();
  });

  it('reports that a guard which lets everybody in is not what was declared, and enters no handler then either', async () => {
    const { app, entered } = await createRuled(platform, shopLike(platform), { canActivate: () => true });
    const rows = await accessMatrix(app);
    expect(entered).toEqual([]);
    expect(new Set(rows.map(({ observed }) => observed))).toEqual(new Set(['allowed']));
    const wrong = rows.filter(({ agrees }) => !agrees);
    expect(wrong.map(({ declared }) => declared)).not.toContain('allowed');
    expect(disagreeing(rows)).toContain('DELETE /api/orders/1 as anonymous: 401, allowed');
    // The same application enters its handlers for everybody else.
    expect((await as(app).delete('/api/orders/1')).status).toBe(200);
    expect(entered.map(({ route }) => route)).toEqual(['DELETE api/orders/:id']);
    await app.close();
  });

  it('reports a guard that lets nobody in', async () => {
    const closed = await createRuled(platform, shopLike(platform), { canActivate: () => false });
    const rows = await accessMatrix(closed.app);
    expect(disagreeing(rows)).toContain('GET /open/page as anonymous: allowed, 403');
    expect(disagreeing(rows)).toContain('GET /api/users/1 as anonymous: 401, 403');
    expect(disagreeing(rows)).not.toContain('DELETE /api/orders/1 as USER: 403, 403');
    await closed.app.close();
  });

  it.each(ROUTERS)('agrees where patterns tell apart what one route serves (%s router)', async (router) => {
    const { app, entered, close } = await startSpellingApp(platform, router);
    const rows = await accessMatrix(app);
    // Express compares the letters of its template with the escapes of the URL: it serves that route to nobody.
    const unreachable = platform === 'express' ? rows.filter(({ path }) => path.startsWith('/open/café/')) : [];
    expect(disagreeing(rows)).toEqual(lines(unreachable));
    expect(unreachable.every(({ observed }) => observed === 404)).toBe(true);
    expect(lines(rows)).toEqual(
      expect.arrayContaining([
        'GET /open/wild/1/1 as anonymous: allowed, allowed',
        'GET /open/wild/1 as anonymous: 401, 401',
        'GET /open/wild/deep/1 as anonymous: 401, 401',
        'GET /api/wild/public/1 as anonymous: allowed, allowed',
      ]),
    );
    expect(entered).toEqual([]);
    await close();
  });

  it('leaves the records of a shop as they are', async () => {
    const shop = await startShop(platform);
    const admin = await shop.admin();
    const headers = { authorization: `Bearer ${admin}` };
    const product = { name: 'Lamp', price: 1, stock: 3 };
    await as(shop.app).request('POST', '/api/products', { json: product, headers });
    const rows = await accessMatrix(shop.app);
    expect(disagreeing(rows)).toEqual([]);
    expect(lines(rows)).toContain('DELETE /api/products/1 as ADMIN: allowed, allowed');
    expect((await as(shop.app).get('/api/products/1')).json.data).toMatchObject(product);
    expect((await as(shop.app).get('/api/products')).json.data).toHaveLength(1);
    await shop.close();
  });

  it('knows decorators, policies, hierarchies, and what main.ts added to the adapter', async () => {
    @Controller('api/decorated')
    @Roles('ADMIN')
    class DecoratedController {
      @Get('admins')
      admins() {
        throw new Error('entered');
      }
    }
    @Controller('api/open')
    class OpenController {
      @Get()
      @Public()
      open() {
        throw new Error('entered');
      }
    }
    let outside = 0;
    const { app } = await createRuled(platform, {
      controllers: [DecoratedController, OpenController],
      auth: { roleHierarchy: { BOSS: ['ADMIN'] } },
      rules: ({ requireAuth }) => requireAuth('/api/**', '/metrics'),
      configure: (app) =>
        void app.getHttpAdapter().get('/metrics', (_request: unknown, response: unknown) => {
          outside++;
          app.getHttpAdapter().reply(response as never, 'up', 200);
        }),
    });
    const rows = await accessMatrix(app);
    expect(disagreeing(rows)).toEqual([]);
    expect(lines(rows)).toEqual(
      expect.arrayContaining([
        'GET /api/decorated/admins as USER: 403, 403',
        'GET /api/decorated/admins as BOSS: allowed, allowed',
        'GET /api/open as anonymous: allowed, allowed',
        'GET /metrics as anonymous: 401, 401',
        'GET /metrics as USER: allowed, allowed',
      ]),
    );
    expect(outside).toBe(0);
    expect((await as(app, { roles: ['USER'] }).get('/metrics')).text).toBe('up');
    expect(outside).toBe(1);
    await app.close();
  });

  it('asks policies for real, and takes either answer of theirs for declared', async () => {
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
    expect(disagreeing(rows)).toEqual([]);
    expect(lines(rows)).toEqual(
      expect.arrayContaining([
        'GET /api/never as anonymous: 401, 401',
        'GET /api/never as ADMIN: policy, 403',
        'GET /api/always as USER: 403, 403',
        'GET /api/always as ADMIN: policy, allowed',
      ]),
    );
    expect(entered).toEqual([]);
    await app.close();
  });

  it('turns back its own requests only, and those of several calls at once', async () => {
    const { app, entered } = await createRuled(platform, shopLike(platform));
    const matrices = await Promise.all([accessMatrix(app), accessMatrix(app)]);
    expect(matrices[0]).toEqual(matrices[1]);
    expect(entered).toEqual([]);
    const headers = { 'x-declarest-rehearsal': 'x' };
    const { status } = await as(app).request('GET', '/open/page', { headers });
    expect([status, entered.length]).toEqual([200, 1]);
    await app.close();
  });

  it('shows the status of what else refused, and finds versions by their header', async () => {
    @Injectable()
    class Busy implements CanActivate {
      canActivate(): boolean {
        throw Object.assign(new Error('busy'), { statusCode: 429 });
      }
    }
    @Controller({ path: 'api/versioned', version: '2' })
    class VersionedController {
      @Get()
      get() {
        throw new Error('entered');
      }

      // What follows the rules is not asked.
      @Post()
      @UseGuards(Busy)
      post() {
        throw new Error('entered');
      }
    }
    const versioned = async (...providers: object[]) =>
      createRuled(platform, {
        controllers: [VersionedController],
        providers: providers as never,
        configure: (app) => void app.enableVersioning({ type: VersioningType.HEADER, header: 'X-Version' }),
      });
    const { app } = await versioned();
    expect(disagreeing(await accessMatrix(app, { headers: { 'X-Version': '2' } }))).toEqual([]);
    expect(disagreeing(await accessMatrix(app))).toContain('GET /api/versioned as USER: allowed, 404');
    await app.close();
    const busy = await versioned({ provide: APP_GUARD, useClass: Busy });
    const rows = await accessMatrix(busy.app, { headers: { 'X-Version': '2' } });
    expect(disagreeing(rows)).toContain('GET /api/versioned as USER: allowed, 500');
    await busy.app.close();
  });
});

it('asks for AuthModule by name', async () => {
  const { app, close } = await startApp('express', {});
  await expect(accessMatrix(app)).rejects.toThrow('expected an application with AuthModule, got one without');
  await close();
});
