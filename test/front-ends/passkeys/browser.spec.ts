/** Passkeys through the client, in a real browser. Runs where TEST_CHROMIUM is the path of a Chromium. */
import type { Server } from 'node:http';
import { type MiddlewareConsumer, Module, type NestModule } from '@nestjs/common';
import { cors } from 'declarest';
import { passkeys } from 'declarest-logins/passkeys';
import type { Failure } from 'declarest-client';
import { type Browser, type BrowserContext, type CDPSession, chromium, type Page } from 'playwright-core';
import { type AuthApp, PASSWORD, startAuth, uniqueEmail } from '../../auth/auth-app.js';
import { browserPath, PASSKEY_DEVICE } from '../../harness/browser.js';
import { ARGS, open, openOrigin, type Window } from '../client-page.js';

// test/logins checks the endpoints on both platforms.
describe('in Chromium', () => {
  let browser: Browser;
  let context: BrowserContext;
  let app: AuthApp;
  let site: { origin: string; server: Server };
  let page: Page;
  let devices: CDPSession;
  let device: string;

  beforeAll(async () => {
    site = await openOrigin();
    @Module({})
    class Origins implements NestModule {
      configure(consumer: MiddlewareConsumer): void {
        consumer.apply(cors(site.origin)).forRoutes('/api/auth/*path');
      }
    }
    const plugins = [passkeys({ rpId: 'localhost', origins: [site.origin], secondFactor: true })];
    app = await startAuth('fastify', { auth: { sessions: true, plugins }, imports: [Origins] });
    browser = await chromium.launch({ executablePath: browserPath as string, args: ARGS });
  });
  afterAll(async () => {
    await browser?.close();
    site.server.close();
    await app.close();
  });
  beforeEach(async () => {
    context = await browser.newContext();
    page = await open(context, site.origin, `http://localhost:${app.port}/api`);
    devices = await context.newCDPSession(page);
    await devices.send('WebAuthn.enable');
    device = await addDevice();
  });
  afterEach(() => context.close());

  const addDevice = async (): Promise<string> =>
    (await devices.send('WebAuthn.addVirtualAuthenticator', { options: PASSKEY_DEVICE })).authenticatorId;
  /** Calls a method of the client. @returns the result, or what its failure says */
  const call = (method: string, ...args: unknown[]) =>
    page.evaluate(
      async ([name, given]) => {
        const { client } = globalThis as unknown as Window;
        const methods = client as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
        try {
          return (await methods[name]?.(...given)) as { data: { user: { email: string }; token: string } };
        } catch (error) {
          const { status, message, needsLogin } = error as Failure;
          return { status, message, needsLogin };
        }
      },
      [method, args] as const,
    );
  const emailIn = async () => ((await call('user')) as unknown as { email?: string }).email;
  const count = async () =>
    (await devices.send('WebAuthn.getCredentials', { authenticatorId: device })).credentials.length;

  it('registers by a passkey, and logs in by it', async () => {
    const email = uniqueEmail();
    expect(await call('registerByPasskey', { email, firstName: 'Ann' })).toMatchObject({ data: { user: { email } } });
    expect([await emailIn(), await count()]).toEqual([email, 1]);
    await call('logout');
    expect(await emailIn()).toBeUndefined();
    expect(await call('loginByPasskey')).toMatchObject({ data: { user: { email }, token: expect.any(String) } });
    expect(await emailIn()).toBe(email);
    // The tokens are stored as those of a login by a password.
    expect(await page.evaluate('JSON.stringify(localStorage)')).toContain('refreshToken');
  });

  it('adds a passkey with the password, and removes passkeys with it or with a passkey', async () => {
    const email = uniqueEmail();
    await app.register({ email });
    await call('login', { email, password: PASSWORD });
    const wrong = { status: 401, message: 'Invalid credentials', needsLogin: false };
    expect(await call('addPasskey', { name: 'Laptop', password: 'wrong' })).toEqual(wrong);
    const id = await call('addPasskey', { name: 'Laptop', password: PASSWORD });
    expect(id).toMatch(/^[0-9a-f]{64}$/);
    expect(await call('addPasskey', { name: 'Again' })).toEqual({
      status: 400,
      message: 'The browser gave no passkey. This device has one already.',
      needsLogin: false,
    });
    const listed = await call('request', 'GET', 'auth/passkeys');
    expect(listed).toMatchObject({ data: [{ id, name: 'Laptop' }] });
    expect(await call('removePasskey', id, { password: 'wrong' })).toEqual(wrong);
    expect(await call('removePasskey', id, {})).toBeUndefined();
    expect(await call('request', 'GET', 'auth/passkeys')).toMatchObject({ data: [] });
  });

  it('completes a login by a password', async () => {
    const email = uniqueEmail();
    await app.register({ email });
    await call('login', { email, password: PASSWORD });
    await call('addPasskey', { name: 'Laptop', password: PASSWORD });
    await call('logout');
    const begun = await call('login', { email, password: PASSWORD });
    const passkey = expect.objectContaining({ rpId: 'localhost' });
    expect(begun).toMatchObject({ data: { mfaRequired: true, challenge: expect.any(String), passkey } });
    expect(await call('claims')).toBeUndefined();
    const done = await call('answerChallengeByPasskey', (begun as { data: { passkey?: object } }).data.passkey);
    expect(done).toMatchObject({ data: { user: { email }, token: expect.any(String) } });
    expect(await emailIn()).toBe(email);
  });

  it('says that the browser gave no passkey, and logs nobody in', async () => {
    await devices.send('WebAuthn.setUserVerified', { authenticatorId: device, isUserVerified: false });
    expect(await call('loginByPasskey')).toEqual({
      status: 400,
      message: 'The browser gave no passkey. Try again.',
      needsLogin: false,
    });
    expect(await call('claims')).toBeUndefined();
  });
});
