import { type Answer, request, type RequestOptions } from '../harness/client.js';
import { PLATFORMS } from '../harness/platforms.js';
import { type Shop, startShop } from '../harness/shop.js';
import { startRuled, TOKENS } from './ruled-app.js';
import { refusal } from '../harness/refusal.js';

const json = { 'content-type': 'application/json' };
const BODIES: [what: string, options: RequestOptions, alone: number[]][] = [
  ['malformed JSON', { body: '{"name":', headers: json }, [400]],
  ['no body', {}, [400]],
  ['too large a body', { body: JSON.stringify({ name: 'x'.repeat(3_000_000) }), headers: json }, [413]],
  ['plain text', { body: 'name=x', headers: { 'content-type': 'text/plain' } }, [415]],
  ['multipart', { body: '--x--', headers: { 'content-type': 'multipart/form-data; boundary=x' } }, [415]],
  ['invalid fields', { json: { name: 7, unknown: true } }, [400]],
];

describe.each(PLATFORMS)('the order of refusals on %s', (platform) => {
  let shop: Shop;
  let tokens: { user: string; admin: string };
  beforeAll(async () => {
    shop = await startShop(platform, {
      rules: ({ publicEndpoints, requireAuth, requireRole }) => {
        publicEndpoints('GET /api/products/**');
        requireAuth('/api/**');
        requireRole('ADMIN', '/api/admin/**', 'POST,PUT /api/categories/**', '/api/auth/register');
      },
    });
    tokens = {
      admin: await shop.admin(),
      user: TOKENS.USER,
    };
  });
  afterAll(() => shop.close());
  const ask = (method: string, path: string, options: RequestOptions, token?: string): Promise<Answer> =>
    request(shop.url, method, path, { ...options, ...(token !== undefined && { token }) });

  describe.each(BODIES)('%s', (_, options, alone) => {
    it.each([
      ['POST', '/api/products'],
      ['PUT', '/api/products/1'],
      ['POST', '/api/categories'],
      ['PUT', '/api/categories/1'],
      ['POST', '/api/auth/register'],
    ])('[3.6] 401 comes before any error of the body: %s %s', async (method, path) => {
      const answer = await ask(method, path, options);
      expect([answer.status, answer.json]).toEqual([401, refusal('Authentication required')]);
      expect(answer.headers['www-authenticate']).toBe('Bearer');
      expect((await ask(method, path, options, 'bad')).status).toBe(401);
    });

    it.each([
      ['POST', '/api/categories'],
      ['PUT', '/api/categories/1'],
      ['POST', '/api/auth/register'],
    ])('[3.6] 403 comes before any error of the body: %s %s', async (method, path) => {
      const answer = await ask(method, path, options, tokens.user);
      expect([answer.status, answer.json]).toEqual([403, refusal('Admin access required')]);
    });

    it.each([
      ['POST', '/api/products', 'user'],
      ['POST', '/api/categories', 'admin'],
      ['POST', '/api/auth/register', 'admin'],
    ] as const)('[3.6] [4.3] with access, the body is validated: %s %s', async (method, path, who) => {
      const answer = await ask(method, path, options, tokens[who]);
      expect(alone).toContain(answer.status);
      expect(answer.json).toMatchObject({ success: false, message: expect.any(String) });
    });
  });

  it('[3.6] the public login validates the body', async () => {
    const answer = await ask('POST', '/api/auth/login', { body: '{', headers: json });
    expect([answer.status, answer.json.success]).toEqual([400, false]);
  });

  it.each([
    '/nowhere',
    '/api/nowhere',
    '/api/products/1/x',
    '/api/admin/nowhere',
    '/api/auth',
    '/api/auth/logout',
    '/api',
    '/api/adminx',
  ])('[3.6] an unknown path is 404 for everyone: %s', async (path) => {
    for (const method of ['GET', 'HEAD', 'POST', 'DELETE'])
      for (const token of [undefined, 'bad', tokens.user, tokens.admin]) {
        const answer = await ask(method, path, {}, token);
        expect([method, answer.status]).toEqual([method, 404]);
        expect(answer.headers).not.toHaveProperty('www-authenticate');
      }
  });

  it.each([
    ['PATCH', '/api/products'],
    ['DELETE', '/api/products'],
    ['GET', '/api/auth/login'],
    ['POST', '/api/auth/me'],
  ])('[3.6] a method without a route is 404 for everyone: %s %s', async (method, path) => {
    for (const token of [undefined, tokens.user, tokens.admin])
      expect((await ask(method, path, {}, token)).status).toBe(404);
  });

  it.each(BODIES.slice(0, 3))('[3.6] an unknown path is 404 whatever the body is: %s', async (_, options) => {
    for (const token of [undefined, tokens.admin]) {
      const { status } = await ask('POST', '/api/nowhere', options, token);
      // Fastify reads the body before it looks for the path, and says so in its own words.
      expect(platform === 'fastify' ? [400, 404, 413] : [404]).toContain(status);
    }
  });

  it.each([
    ['/', 401],
    ['/api/products', 200],
    ['/api/products/999', 404],
    ['/api/categories', 401],
    ['/api/admin/stats', 401],
    ['/api/auth/me', 401],
    ['/nowhere', 404],
  ])('[3.6] HEAD is governed as GET: HEAD %s is %i, as GET is', async (path, status) => {
    const [get, head] = [await ask('GET', path, {}), await ask('HEAD', path, {})];
    expect([get.status, head.status, head.text]).toEqual([status, status, '']);
    expect((await ask('HEAD', '/api/admin/stats', {}, tokens.user)).status).toBe(403);
  });
});

describe.each(PLATFORMS)("the application's own routes on %s", (platform) => {
  it('[3.6] are not entered by a refused request with any body', async () => {
    const app = await startRuled(platform, { routes: ['POST mine'] });
    for (const [, options] of BODIES) {
      const { status } = await request(app.url, 'POST', '/mine', options);
      expect([400, 401, 413, 415]).toContain(status);
    }
    expect(app.entered).toEqual([]);
    await app.close();
  });
});
