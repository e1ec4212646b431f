/** Sessions in cookies as a real browser keeps them. Runs where TEST_CHROMIUM is the path of a Chromium. */
import type { Server } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { Controller, Get, Header, type MiddlewareConsumer, Module, type NestModule, Param } from '@nestjs/common';
import { cors } from 'declarest';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { type AuthApp, PASSWORD, startAuth, uniqueEmail } from '../auth/auth-app.js';
import { browserPath } from '../harness/browser.js';
import { PLATFORMS } from '../harness/platforms.js';
import { ARGS, moduleOf, open, openOrigin, PAGE, type Window } from './client-page.js';

const NAME = '__Host-declarest-refresh';

@Controller()
class PagesController {
  @Get()
  @Header('Content-Type', 'text/html')
  page() {
    return PAGE;
  }

  @Get('client/:file')
  @Header('Content-Type', 'text/javascript')
  client(@Param('file') file: string) {
    return moduleOf(file);
  }
}

const emailIn = (page: Page): Promise<string> =>
  page.evaluate(async () => (await (globalThis as unknown as Window).client.user<{ email: string }>()).email);

describe.each(PLATFORMS)('in Chromium, on %s', (platform) => {
  let browser: Browser;
  let context: BrowserContext;
  let app: AuthApp;
  let other: { origin: string; server: Server };
  let stranger: { origin: string; server: Server };
  let origin: string;
  let api: string;
  let refreshes: number;

  beforeAll(async () => {
    [other, stranger] = [await openOrigin(), await openOrigin()];
    @Module({})
    class Origins implements NestModule {
      configure(consumer: MiddlewareConsumer): void {
        consumer.apply(cors(other.origin)).forRoutes('/api/auth/*path');
      }
    }
    const auth = { sessions: { cookie: true } };
    app = await startAuth(platform, { auth, imports: [Origins], controllers: [PagesController] });
    origin = `http://localhost:${app.port}`;
    api = `${origin}/api`;
    browser = await chromium.launch({ executablePath: browserPath as string, args: ARGS });
  });
  afterAll(async () => {
    await browser?.close();
    other.server.close();
    stranger.server.close();
    await app.close();
  });
  beforeEach(async () => {
    context = await browser.newContext();
    refreshes = 0;
    context.on('request', (request) => {
      if (request.url().endsWith('/refresh') && request.method() === 'POST') refreshes += 1;
    });
  });
  afterEach(() => context.close());

  const logIn = async (page: Page): Promise<string> => {
    const email = uniqueEmail();
    await app.register({ email });
    const credentials = { email, password: PASSWORD };
    await page.evaluate((given) => (globalThis as unknown as Window).client.login(given), credentials);
    return email;
  };
  /** For the clock of the client, the access token has expired. */
  const expire = (page: Page): Promise<void> =>
    page.evaluate(() => {
      const now = performance.now.bind(performance);
      performance.now = () => now() + 1_000_000;
    });

  it('keeps the cookie from scripts, refreshes by it after a reload, and removes it at a logout', async () => {
    const page = await open(context, origin, api, false);
    const email = await logIn(page);
    const [cookie] = await context.cookies(origin);
    expect(cookie).toMatchObject({ name: NAME, path: '/', httpOnly: true, secure: true, sameSite: 'Strict' });
    const readable = await page.evaluate<string>('document.cookie + JSON.stringify(localStorage)');
    expect(readable).toContain('eyJ');
    expect(readable).not.toContain(cookie?.value);
    const reloaded = await open(context, origin, api, false);
    await expire(reloaded);
    expect([await emailIn(reloaded), refreshes]).toEqual([email, 1]);
    await reloaded.evaluate(() => (globalThis as unknown as Window).client.logout());
    expect(await context.cookies(origin)).toEqual([]);
  });

  it('of two tabs, one refreshes at a time', async () => {
    const [first, second] = [await open(context, origin, api, false), await open(context, origin, api, false)];
    const email = await logIn(first);
    for (const tab of [first, second]) await expire(tab);
    let [waiting, most] = [0, 0];
    await context.route('**/refresh', async (route) => {
      most = Math.max(most, (waiting += 1));
      // The other tab could send its own refresh meanwhile.
      await delay(300);
      waiting -= 1;
      await route.continue();
    });
    expect(await Promise.all([emailIn(first), emailIn(second)])).toEqual([email, email]);
    // Chromium may give a tab what another one has stored a moment later. The server then answers with the same tokens.
    expect([most, [1, 2].includes(refreshes)]).toEqual([1, true]);
  });

  it('a page of another origin of the site uses the cookie where cors() names the origin', async () => {
    const page = await open(context, other.origin, api, true);
    const email = await logIn(page);
    await expire(page);
    expect([await emailIn(page), refreshes]).toEqual([email, 1]);
  });

  it('a page of an origin of the site that cors() does not name can neither refresh nor log out', async () => {
    const page = await open(context, origin, api, false);
    const email = await logIn(page);
    const evil = await open(context, stranger.origin, api, true);
    const refused: number[] = [];
    context.on('response', (response) => void refused.push(response.status()));
    for (const path of ['refresh', 'logout'])
      await evil.evaluate(
        (url) => fetch(url, { method: 'POST', mode: 'no-cors', credentials: 'include' }).then(() => undefined),
        `${api}/auth/${path}`,
      );
    await expect(
      evil.evaluate(
        (url) => fetch(url, { method: 'POST', credentials: 'include', headers: { 'X-Requested-With': 'x' } }),
        `${api}/auth/refresh`,
      ),
    ).rejects.toThrow('Failed to fetch');
    expect(refused.slice(0, 2)).toEqual([403, 403]);
    await expire(page);
    expect(await emailIn(page)).toBe(email);
  });
});
