import { cors, routesOf } from 'declarest';
import { request } from '../harness/client.js';
import { PLATFORMS } from '../harness/platforms.js';
import { rawTarget } from '../harness/raw-socket.js';
import {
  allCorsHeaders,
  corsHeadersOf,
  type GadgetApp,
  GadgetsController,
  ORIGIN,
  OwnController,
  preflight,
  startGadgets,
} from './gadget-app.js';

/** A path of the group, and what the application answers there: the method is what its one route has. */
const GROUP = [
  ['GET, POST', '/api/gadgets'],
  ['GET, PUT, DELETE', '/api/gadgets/7'],
  ['GET', '/api/gadgets/search'],
  ['GET', '/api/gadgets/exists/7'],
  ['GET', '/api/own/read'],
  ['HEAD', '/api/own/head'],
  ['POST', '/api/own/post'],
  ['PUT', '/api/own/put'],
  ['PATCH', '/api/own/patch'],
  ['DELETE', '/api/own/delete'],
  ['any method', '/api/own/all'],
  ['OPTIONS', '/api/own/options'],
  ['GET, for administrators', '/api/own/for-admins'],
  ['POST', '/api/auth/register'],
  ['POST', '/api/auth/login'],
  ['GET, with a token', '/api/auth/me'],
] as const;

describe.each(PLATFORMS)('a preflight on %s', (platform) => {
  let app: GadgetApp;
  beforeAll(async () => {
    app = await startGadgets(platform, {
      bind: (consumer) => {
        consumer
          .apply(cors(ORIGIN))
          .forRoutes(...routesOf(GadgetsController), ...routesOf(OwnController), '/api/auth/*path');
      },
    });
  });
  afterAll(() => app.close());
  beforeEach(() => void app.takeTrace());

  it.each(GROUP)('[5] is answered before guards and handlers where the route has %s: %s', async (_, path) => {
    for (const headers of [preflight(), {}]) {
      const answer = await request(app.url, 'OPTIONS', path, { headers });
      expect([answer.status, answer.text, corsHeadersOf(answer)]).toEqual([204, '', allCorsHeaders(ORIGIN)]);
    }
    expect(app.takeTrace()).toEqual([]);
  });

  it.each(['GET', 'PATCH', 'PURGE'])('[5] is answered 204 for any requested method: %s', async (method) => {
    const answer = await request(app.url, 'OPTIONS', '/api/own/read', { headers: preflight(method) });
    expect([answer.status, corsHeadersOf(answer)]).toEqual([204, allCorsHeaders(ORIGIN)]);
  });

  it('[5] sends the allowed origin to every other origin', async () => {
    const answer = await request(app.url, 'OPTIONS', '/api/gadgets', {
      headers: preflight('GET', 'https://evil.example'),
    });
    expect(answer.status).toBe(204);
    expect(answer.headers['access-control-allow-origin']).toBe(ORIGIN);
  });

  it('[5] has no Access-Control-Allow-Credentials', async () => {
    const answer = await request(app.url, 'OPTIONS', '/api/gadgets', { headers: preflight() });
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
  });

  it.each(['/api/gadgets?page=2', '/api/gadgets?', '/api/gadgets/a%20b', 'http://anywhere.example/api/gadgets'])(
    '[5] is answered 204 for the target %s',
    async (target) => {
      const answer = await rawTarget(app.port, target, { method: 'OPTIONS' });
      expect(answer.status).toBe(204);
      expect(answer.headers['access-control-allow-origin']).toBe(ORIGIN);
    },
  );

  it('[5] is answered 204 with any body', async () => {
    const answer = await request(app.url, 'OPTIONS', '/api/own/post', {
      body: '{"broken',
      headers: { ...preflight(), 'content-type': 'application/json' },
    });
    expect([answer.status, corsHeadersOf(answer)]).toEqual([204, allCorsHeaders(ORIGIN)]);
  });

  it.each([
    ['a path of no route', '/api/nowhere'],
    ['the root', '/'],
    ['a level below a route of the group', '/api/gadgets/7/parts'],
    ['the level above the group', '/api'],
    ['a route of the application outside of the group', '/api/outside'],
    ['a generated route outside of the group', '/api/gizmos'],
    ['a path under a wildcard of the group that has no route', '/api/auth/nope'],
    ['the path of a wildcard itself, without a route', '/api/auth'],
  ])('[5] passes on to 404 without CORS headers: %s', async (_, path) => {
    const answer = await request(app.url, 'OPTIONS', path, { headers: preflight() });
    expect([answer.status, corsHeadersOf(answer)]).toEqual([404, {}]);
  });

  it('[5] passes on to the same 404 as any other request', async () => {
    const answer = await request(app.url, 'OPTIONS', '/api/auth/nope', { headers: preflight() });
    expect(answer.json).toEqual({ message: 'Cannot OPTIONS /api/auth/nope', error: 'Not Found', statusCode: 404 });
  });

  it('[5] reaches an @Options() handler outside of the group', async () => {
    const answer = await request(app.url, 'OPTIONS', '/api/outside/options', { headers: preflight() });
    expect([answer.status, answer.json]).toEqual([200, { outside: true }]);
    expect(corsHeadersOf(answer)).toEqual({});
    expect(app.takeTrace()).toContain('handler options');
  });

  it.each([
    ['/API/GADGETS', 'express'],
    ['/Api/Own/Read', 'express'],
    ['/api/own/read/', 'express'],
    ['/api/auth/LOGIN', 'express'],
    ['/api/auth/login/', 'express'],
    // Fastify decodes before it matches; Express matches the bytes.
    ['/api/%67adgets', 'fastify'],
  ] as const)('[5] is matched as the router matches case, trailing slash and escapes: %s', async (path, served) => {
    const answer = await rawTarget(app.port, path, { method: 'OPTIONS' });
    expect(answer.status).toBe(platform === served ? 204 : 404);
    expect(corsHeadersOf(answer)).toEqual(platform === served ? allCorsHeaders(ORIGIN) : {});
  });

  it.each([
    '/api/gadgets/',
    '/api//gadgets',
    '//api/gadgets',
    '/api/./gadgets',
    '/api/gadgets/..',
    '/api/gadgets/7%2fparts',
    '/api/gadgets/7;x=1',
    '/api\\gadgets',
    '/api/gadgets#top',
    'http://anywhere.example//api/gadgets',
    'http://anywhere.example',
    '/api/gadgets/exists/',
    '/api/gadgets/EXISTS/7',
  ])('[5] is answered 204 exactly where a GET of the same target reaches a handler: %s', async (target) => {
    await rawTarget(app.port, target);
    const reached = app.takeTrace().length > 0;
    const answer = await rawTarget(app.port, target, { method: 'OPTIONS' });
    if (reached) expect([answer.status, corsHeadersOf(answer)]).toEqual([204, allCorsHeaders(ORIGIN)]);
    else expect([answer.status, corsHeadersOf(answer)]).toEqual([404, {}]);
  });

  it.each(['/api/gadgets/%zz', '/api/gadgets/%ff', '/api/%ff/x', '/%', '*'])(
    '[5] is never a 500 for a broken target: %s',
    async (target) => {
      const answer = await rawTarget(app.port, target, { method: 'OPTIONS' });
      expect([204, 400, 404]).toContain(answer.status);
      expect(answer.status === 404 ? corsHeadersOf(answer) : {}).toEqual({});
      expect(app.takeTrace()).toEqual([]);
    },
  );
});
