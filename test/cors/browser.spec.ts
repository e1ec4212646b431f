/** The promises of CORS as a real browser keeps them. Runs where TEST_CHROMIUM is the path of a Chromium. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cors, routesOf } from 'declarest';
import { type Browser, chromium, type Page } from 'playwright-core';
import { browserPath } from '../harness/browser.js';
import { request } from '../harness/client.js';
import { PLATFORMS } from '../harness/platforms.js';
import { claims, makeToken } from '../harness/tokens.js';
import {
  type GadgetApp,
  GadgetsController,
  GizmosController,
  OutsideController,
  OwnController,
  startGadgets,
} from './gadget-app.js';
import { refusal } from '../harness/refusal.js';

const CHROMIUM = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** What a page saw of its fetch. */
interface Seen {
  /** The message of the rejection: the browser kept the answer from the page. */
  refused?: string;
  status?: number;
  body?: string;
  location?: string | null;
  challenge?: string | null;
}

interface Fetched {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

const fetchIn = (page: Page, url: string, init: Fetched = {}): Promise<Seen> =>
  page.evaluate(
    async ({ url, init }): Promise<Seen> => {
      try {
        const response = await fetch(url, init);
        return {
          status: response.status,
          body: await response.text(),
          location: response.headers.get('Location'),
          challenge: response.headers.get('WWW-Authenticate'),
        };
      } catch (error) {
        return { refused: String(error) };
      }
    },
    { url, init },
  );

const JSON_TYPE = { 'Content-Type': 'application/json' };
const USER = { Authorization: `Bearer ${makeToken()}` };
const ADMIN = { Authorization: `Bearer ${makeToken({ payload: claims({ roles: ['ADMIN'] }) })}` };

describe('CORS in Chromium', () => {
  let browser: Browser;
  const sites: Server[] = [];

  /** A page on a port, that is an origin, of its own. */
  async function openSite(): Promise<{ origin: string; page: Page }> {
    const site = createServer((_, response) =>
      response.setHeader('Content-Type', 'text/html').end('<title>shop</title>'),
    );
    sites.push(site);
    await new Promise<void>((resolve) => void site.listen(0, '127.0.0.1', resolve));
    const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    const page = await browser.newPage();
    await page.goto(origin);
    return { origin, page };
  }

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: browserPath as string, args: CHROMIUM });
  });
  afterAll(async () => {
    await browser?.close();
    for (const site of sites) site.close();
  });

  describe.each(PLATFORMS)('of an application on %s', (platform) => {
    let app: GadgetApp;
    let shop: Page;
    let stranger: Page;
    const api = (path: string): string => `${app.url}${path}`;

    beforeAll(async () => {
      const front = await openSite();
      shop = front.page;
      stranger = (await openSite()).page;
      app = await startGadgets(platform, {
        bind: (consumer) => {
          consumer
            .apply(cors(front.origin))
            .forRoutes(
              ...routesOf(GadgetsController),
              ...routesOf(GizmosController),
              ...routesOf(OwnController),
              '/api/auth/*path',
            );
          consumer.apply(cors()).forRoutes(...routesOf(OutsideController));
        },
      });
      await request(app.url, 'POST', '/api/gadgets', { json: { name: 'one' } });
    });
    afterAll(() => app.close());
    beforeEach(() => void app.takeTrace());

    it('[5] a page of the allowed origin may PUT JSON with a token, which needs a preflight', async () => {
      const seen = await fetchIn(shop, api('/api/gadgets/1'), {
        method: 'PUT',
        headers: { ...JSON_TYPE, ...USER, 'X-Requested-With': 'fetch' },
        body: JSON.stringify({ name: 'from a page' }),
      });
      expect([seen.refused, seen.status]).toEqual([undefined, 200]);
      expect(JSON.parse(seen.body ?? '')).toMatchObject({ success: true, data: { id: 1, name: 'from a page' } });
    });

    it('[5] it reads Location of what it has created', async () => {
      const seen = await fetchIn(shop, api('/api/gadgets'), {
        method: 'POST',
        headers: JSON_TYPE,
        body: JSON.stringify({ name: 'created' }),
      });
      expect([seen.refused, seen.status, seen.location]).toEqual([
        undefined,
        201,
        expect.stringMatching(/\/api\/gadgets\/\d+$/),
      ]);
    });

    it.each<[string, number, string, Fetched]>([
      ['invalid data', 400, '/api/gadgets', { method: 'POST', headers: JSON_TYPE, body: '{"name":5}' }],
      ['malformed JSON', 400, '/api/gadgets', { method: 'POST', headers: JSON_TYPE, body: '{' }],
      ['malformed JSON for its own route', 400, '/api/own/post', { method: 'POST', headers: JSON_TYPE, body: '{' }],
      ['a missing token', 401, '/api/gadgets/1', { method: 'PUT', headers: JSON_TYPE, body: '{"name":"x"}' }],
      ['a missing role', 403, '/api/gadgets/1', { method: 'DELETE', headers: USER }],
      ['a missing record', 404, '/api/gadgets/4711', {}],
      ['a method without a route', 404, '/api/gadgets', { method: 'PATCH', headers: USER }],
      ['a taken value', 409, '/api/gadgets', { method: 'POST', headers: JSON_TYPE, body: '{"name":"created"}' }],
      [
        'too large a body',
        413,
        '/api/gadgets',
        { method: 'POST', headers: JSON_TYPE, body: JSON.stringify({ name: 'x'.repeat(1_500_000) }) },
      ],
      ['a body that is no JSON', 415, '/api/gadgets', { method: 'POST', body: 'name=x' }],
      ['a failure of the inside', 500, '/api/gizmos/1', {}],
      [
        'wrong credentials',
        401,
        '/api/auth/login',
        {
          method: 'POST',
          headers: JSON_TYPE,
          body: '{"email":"nobody@example.com","password":"wrong horse"}',
        },
      ],
    ])('[5] it reads the answer of %s: %i', async (_, status, path, init) => {
      const seen = await fetchIn(shop, api(path), init);
      expect([seen.refused, seen.status]).toEqual([undefined, status]);
      expect(Object.keys(JSON.parse(seen.body ?? '') as object).length).toBeGreaterThan(0);
    });

    it('[5] it reads the challenge of a refusal', async () => {
      const seen = await fetchIn(shop, api('/api/auth/me'));
      expect([seen.status, seen.body, seen.challenge]).toEqual([
        401,
        JSON.stringify(refusal('Authentication required')),
        'Bearer',
      ]);
    });

    it('[5] it may DELETE with a token', async () => {
      const created = await fetchIn(shop, api('/api/gadgets'), {
        method: 'POST',
        headers: JSON_TYPE,
        body: '{"name":"to be deleted"}',
      });
      const seen = await fetchIn(shop, new URL(created.location ?? '', app.url).href, {
        method: 'DELETE',
        headers: ADMIN,
      });
      expect([seen.refused, seen.status]).toEqual([undefined, 200]);
    });

    it('[5] a page of a third origin is refused before its request is sent', async () => {
      const before = await request(app.url, 'GET', '/api/gadgets/1');
      app.takeTrace();
      const seen = await fetchIn(stranger, api('/api/gadgets/1'), {
        method: 'PUT',
        headers: { ...JSON_TYPE, ...USER },
        body: '{"name":"from a stranger"}',
      });
      expect(seen.refused).toMatch(/Failed to fetch/);
      expect(app.takeTrace()).toEqual([]);
      expect((await request(app.url, 'GET', '/api/gadgets/1')).json.data).toEqual(before.json.data);
    });

    it('[5] a page of a third origin reads no answer of a simple request either', async () => {
      expect((await fetchIn(stranger, api('/api/gadgets'))).refused).toMatch(/Failed to fetch/);
    });

    it('[5] no page reads an answer outside of the groups', async () => {
      expect((await fetchIn(shop, api('/api/nowhere'))).refused).toMatch(/Failed to fetch/);
    });

    it('[5] every page reads a group that allows every origin', async () => {
      for (const page of [shop, stranger]) {
        const seen = await fetchIn(page, api('/api/outside'), { headers: USER });
        expect([seen.refused, seen.status, seen.body]).toEqual([undefined, 200, '{"outside":true}']);
      }
    });
  });
});
