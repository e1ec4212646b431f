/** Passkeys in a real browser, with the code of docs/tasks/factors.md. Runs where TEST_CHROMIUM is the path of a Chromium. */
import { readFile } from 'node:fs/promises';
import { createServer, request as send, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { passkeys } from 'declarest-logins/passkeys';
import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core';
import { type AuthApp, PASSWORD, startAuth, uniqueEmail } from '../../auth/auth-app.js';
import { REPOSITORY } from '../../compiled.js';
import { blocksOf } from '../../docs-blocks.js';
import { browserPath, PASSKEY_DEVICE } from '../../harness/browser.js';
import { PLATFORMS } from '../../harness/platforms.js';

const DOCS = { path: 'docs/tasks/factors.md', text: await readFile(join(REPOSITORY, 'docs/tasks/factors.md'), 'utf8') };
const CODE = blocksOf(DOCS).find(({ language }) => language === 'js')?.text ?? '';

describe.each(PLATFORMS)('in Chromium, with an application on %s', (platform) => {
  let browser: Browser;
  let app: AuthApp;
  let site: Server;
  let stranger: Server;
  let origin: string;
  let page: Page;
  let devices: CDPSession;
  let device: string;

  beforeAll(async () => {
    // The front end and the API have one origin, which the options must know.
    site = createServer((incoming, response) => {
      if (!incoming.url?.startsWith('/api/')) return response.setHeader('Content-Type', 'text/html').end('<p>shop');
      const { method, headers, url } = incoming;
      const outgoing = send({ port: app.port, host: '127.0.0.1', method, headers, path: url }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      return incoming.pipe(outgoing);
    });
    origin = await listen(site);
    stranger = createServer((_, response) =>
      response
        .setHeader('Content-Type', 'text/html')
        .end(`<iframe src="${origin}" allow="publickey-credentials-get *"></iframe>`),
    );
    const plugins = [passkeys({ rpId: 'localhost', origins: [origin] })];
    app = await startAuth(platform, { auth: { sessions: true, plugins } });
    browser = await chromium.launch({ executablePath: browserPath as string, args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    site.close();
    stranger.close();
    await app?.close();
  });
  beforeEach(async () => {
    page = await browser.newPage();
    devices = await page.context().newCDPSession(page);
    await devices.send('WebAuthn.enable');
    device = await addDevice();
    await page.goto(origin);
    await page.addScriptTag({ content: CODE });
  });
  afterEach(() => page.close());

  const addDevice = async (): Promise<string> =>
    (await devices.send('WebAuthn.addVirtualAuthenticator', { options: PASSKEY_DEVICE })).authenticatorId;
  const removeDevice = (authenticatorId: string) =>
    devices.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId });
  const credentials = async () =>
    (await devices.send('WebAuthn.getCredentials', { authenticatorId: device })).credentials;
  /** Runs code of the page of docs. */
  const run = <R = { user: { email: string }; token: string }>(code: string): Promise<R> => page.evaluate(code);

  it('registers without a password, logs in without a name, and uses a passkey to add one', async () => {
    const email = uniqueEmail();
    const registered = await run(`register({ email: '${email}', firstName: 'Ann' })`);
    expect(registered).toMatchObject({ user: { email, firstName: 'Ann' }, token: expect.any(String) });
    expect(await credentials()).toMatchObject([{ isResidentCredential: true, rpId: 'localhost', userName: email }]);
    const { user, token } = await run('logIn()');
    expect(user.email).toBe(email);
    const add = `confirm('${token}').then((proof) => addPasskey('${token}', 'Again', proof))`;
    await expect(run(add)).rejects.toThrow(/InvalidStateError/);
    await removeDevice(device);
    // Without the device, nothing confirms.
    device = await addDevice();
    await expect(run(add)).rejects.toThrow(/NotAllowedError/);
  });

  it('adds a passkey to a user with a password, lists it, and removes it', async () => {
    const email = uniqueEmail();
    const { token } = await app.register({ email });
    const { passkey } = await run<{ passkey: { id: string } }>(
      `addPasskey('${token}', 'Laptop', { password: '${PASSWORD}' })`,
    );
    expect(passkey).toMatchObject({ name: 'Laptop', backedUp: false, lastUsedAt: null });
    const login = await run('logIn()');
    expect(login.user.email).toBe(email);
    const listed = await app.get('/api/auth/passkeys', { token: login.token });
    expect(listed.json.data).toMatchObject([{ id: passkey.id, lastUsedAt: expect.any(String) }]);
    const answer = await page.evaluate(
      async ([path, bearer, password]) =>
        (
          await fetch(String(path), {
            method: 'DELETE',
            headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${bearer}` },
            body: JSON.stringify({ password }),
          })
        ).status,
      [`/api/auth/passkeys/${passkey.id}`, login.token, PASSWORD],
    );
    expect(answer).toBe(204);
    await expect(run('logIn()')).rejects.toThrow('Invalid credentials');
  });

  it('refuses the copy of an authenticator that counts', async () => {
    await run(`register({ email: '${uniqueEmail()}' })`);
    const [copy] = await credentials();
    await run('logIn()');
    await run('logIn()');
    expect((await credentials())[0]?.signCount).toBeGreaterThan(Number(copy?.signCount) + 1);
    await removeDevice(device);
    device = await addDevice();
    await devices.send('WebAuthn.addCredential', { authenticatorId: device, credential: copy as never });
    await expect(run('logIn()')).rejects.toThrow('Invalid credentials');
  });

  it('does not log in without user verification', async () => {
    await run(`register({ email: '${uniqueEmail()}' })`);
    await devices.send('WebAuthn.setUserVerified', { authenticatorId: device, isUserVerified: false });
    await expect(run('logIn()')).rejects.toThrow(/NotAllowedError/);
  });

  it('refuses a login in a frame of another origin', async () => {
    await run(`register({ email: '${uniqueEmail()}' })`);
    await page.goto(await listen(stranger));
    const frame = page.frames().find((each) => each !== page.mainFrame());
    await frame?.addScriptTag({ content: CODE });
    await expect(frame?.evaluate('logIn()')).rejects.toThrow('Invalid credentials');
    // The passkey itself is right.
    await page.goto(origin);
    await page.addScriptTag({ content: CODE });
    expect(await run('logIn()')).toMatchObject({ token: expect.any(String) });
  });
});

/** @returns the origin */
async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}
