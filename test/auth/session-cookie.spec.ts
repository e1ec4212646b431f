/** `sessions({ cookie: true })`: the refresh token in a cookie, and the requests that may use it. */
import { Controller, type INestApplication, type MiddlewareConsumer, Module, Post, Req } from '@nestjs/common';
import type { NestModule } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { type AuthOptions, AuthSession, cors, type HttpRequest } from 'declarest';
import { accountEndpoint, Logins } from 'declarest/plugin';
import { DataSource } from 'typeorm';
import { type Answer, request } from '../harness/client.js';
import { linesOf, type Platform, PLATFORMS } from '../harness/platforms.js';
import { rawTarget } from '../harness/raw-socket.js';
import { type AuthApp, expectFailure, PASSWORD, startAuth, uniqueEmail } from './auth-app.js';

const NAME = '__Host-declarest-refresh';
const SAME = { 'sec-fetch-site': 'same-origin' };
const FOREIGN = 'This request must come from a page of this server, or have the header X-Requested-With';
const TOKEN = /^[\w-]{86}$/;
const REMOVED = `${NAME}=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Strict`;

/** The refresh token that an answer has set, whose cookie must be exact. */
function setBy({ headers }: Answer, maxAge = 30 * 86_400): string {
  const [pair = '', ...attributes] = (headers['set-cookie'] ?? '').split('; ');
  expect(attributes).toEqual([`Max-Age=${maxAge}`, 'Path=/', 'HttpOnly', 'Secure', 'SameSite=Strict']);
  const [name, token = ''] = pair.split('=');
  expect([name, token]).toEqual([NAME, expect.stringMatching(TOKEN)]);
  return token;
}

const withCookie = (token: string, headers: Record<string, string> = SAME) => ({
  headers: { cookie: `${NAME}=${token}`, ...headers },
});
const rows = (app: AuthApp) => app.app.get(DataSource, { strict: false }).getRepository(AuthSession);
const start = (platform: Platform, auth: Partial<AuthOptions> = {}) =>
  startAuth(platform, { auth: { sessions: { cookie: true }, ...auth } });

interface Entered {
  readonly email: string;
  readonly token: string;
  readonly refreshToken: string;
}

async function enter(app: AuthApp): Promise<Entered> {
  const email = uniqueEmail();
  const answer = await app.post('/api/auth/register', { email, password: PASSWORD });
  return { email, token: answer.json.data.token, refreshToken: setBy(answer) };
}

describe.each(PLATFORMS)('on %s', (platform) => {
  let app: AuthApp;
  beforeAll(async () => {
    app = await start(platform);
  });
  afterAll(() => app.close());

  const post = (path: string, options: object): Promise<Answer> =>
    request(app.url, 'POST', `/api/auth/${path}`, options);
  const refresh = (token: string, headers?: Record<string, string>) => post('refresh', withCookie(token, headers));

  it('login, register and refresh set the cookie, and their JSON has no refresh token', async () => {
    const email = uniqueEmail();
    const registered = await app.post('/api/auth/register', { email, password: PASSWORD });
    const logged = await app.post('/api/auth/login', { email, password: PASSWORD });
    for (const answer of [registered, logged]) {
      expect(Object.keys(answer.json.data).toSorted()).toEqual(['expiresIn', 'token', 'user']);
      expect(answer.json.data.expiresIn).toBe(900);
      expect(answer.headers['cache-control']).toBe('no-store');
    }
    expect(setBy(registered)).not.toBe(setBy(logged));
    const refreshed = await refresh(setBy(logged));
    expect([refreshed.status, refreshed.json]).toEqual([
      200,
      { success: true, message: 'Token refreshed', data: { token: expect.any(String), expiresIn: 900 } },
    ]);
    const next = setBy(refreshed);
    expect(JSON.stringify([registered.json, logged.json, refreshed.json])).not.toContain(next.slice(0, 20));
    // Another tab, and then a thief.
    expect(setBy(await refresh(setBy(logged)))).toBe(next);
    expect((await refresh(next)).status).toBe(200);
    expect((await refresh(setBy(logged))).status).toBe(401);
    expect((await refresh(next)).status).toBe(401);
  });

  it('a failed login and a wrong token set no cookie', async () => {
    const { refreshToken } = await enter(app);
    const wrong = await app.post('/api/auth/login', { email: 'nobody@example.com', password: PASSWORD });
    const other = await refresh(refreshToken.replace(/^..../, 'AAAA'));
    for (const { status, headers } of [wrong, other]) expect([status, headers['set-cookie']]).toEqual([401, undefined]);
  });

  const HOST = { host: 'shop.example' };
  it.each<[string, Record<string, string>]>([
    ['X-Requested-With', { 'x-requested-with': 'x' }],
    [
      'X-Requested-With, from another origin',
      { 'x-requested-with': 'x', origin: 'https://app.shop.example', 'sec-fetch-site': 'same-site' },
    ],
    ['Sec-Fetch-Site: same-origin', SAME],
    ['Origin of the host', { ...HOST, origin: 'https://shop.example' }],
    ['Origin of the host and port', { host: 'shop.example:8443', origin: 'https://shop.example:8443' }],
    ['Origin of localhost', { host: 'localhost:3000', origin: 'http://localhost:3000' }],
  ])('refresh and logout take the cookie with %s', async (_, headers) => {
    const { refreshToken } = await enter(app);
    const refreshed = await refresh(refreshToken, headers);
    expect(refreshed.status).toBe(200);
    expect((await post('logout', withCookie(setBy(refreshed), headers))).status).toBe(204);
  });

  it.each<[string, Record<string, string>]>([
    ['no such header', {}],
    ['an empty X-Requested-With', { 'x-requested-with': '' }],
    ['a page of the same site', { 'sec-fetch-site': 'same-site' }],
    ['a page of another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    ['a request of the user', { 'sec-fetch-site': 'none' }],
    ['another host', { ...HOST, origin: 'https://app.shop.example' }],
    ['another port', { ...HOST, origin: 'https://shop.example:8443' }],
    ['the host as the beginning', { ...HOST, origin: 'https://shop.example.evil.example' }],
    ['a page without TLS', { ...HOST, origin: 'http://shop.example' }],
    ['a sandboxed page', { ...HOST, origin: 'null' }],
    ['a forwarded host', { ...HOST, 'x-forwarded-host': 'evil.example', origin: 'https://evil.example' }],
    ['a referer', { ...HOST, referer: 'https://shop.example/' }],
  ])('refresh and logout are 403 with %s, and nothing ends', async (_, headers) => {
    const { refreshToken, token } = await enter(app);
    for (const path of ['refresh', 'logout']) {
      const answer = await post(path, { ...withCookie(refreshToken, headers), token });
      expect([expectFailure(answer, 403), answer.headers['set-cookie']]).toEqual([FOREIGN, undefined]);
    }
    expect((await refresh(refreshToken)).status).toBe(200);
  });

  it('a body has no effect', async () => {
    const { refreshToken } = await enter(app);
    for (const path of ['refresh', 'logout']) {
      const answer = await post(path, { json: { refreshToken }, headers: SAME });
      expect(expectFailure(answer, 400)).toContain('refreshToken: not accepted here');
      expect((await post(path, { json: {}, headers: SAME })).status).toBe(401);
    }
    expect((await refresh(refreshToken)).status).toBe(200);
  });

  it.each<[string, (token: string) => string]>([
    ['no value', () => `${NAME}=`],
    ['no sign', () => NAME],
    ['the name in lower case', (token) => `${NAME.toLowerCase()}=${token}`],
    ['the name without its prefix', (token) => `declarest-refresh=${token}`],
    ['a longer name', (token) => `${NAME}2=${token}`],
    ['a space in the name', (token) => `${NAME} =${token}`],
    ['a no-break space in front', (token) => `\u00A0${NAME}=${token}`],
    ['the pair as a value', (token) => `a=${NAME}=${token}`],
    ['a cookie without a name', (token) => `=${NAME}=${token}`],
    ['quotes', (token) => `${NAME}="${token}"`],
    ['an escape', (token) => `${NAME}=%${token.charCodeAt(0).toString(16)}${token.slice(1)}`],
    ['a comma', (token) => `a=b, ${NAME}=${token}`],
    ['the same cookie twice', (token) => `${NAME}=${token}; ${NAME}=${token}`],
    ['another one behind', (token) => `${NAME}=${token}; ${NAME}=`],
    ['another one in front', (token) => `${NAME}=x;${NAME}=${token}`],
  ])('refresh with %s is 401, and ends no session', async (_, cookieOf) => {
    const { refreshToken } = await enter(app);
    const answer = await post('refresh', { headers: { ...SAME, cookie: cookieOf(refreshToken) } });
    expect(expectFailure(answer, 401)).toBe('Invalid refresh token');
    expect((await refresh(refreshToken)).status).toBe(200);
  });

  it('finds the cookie among others, with any spaces between', async () => {
    const { refreshToken } = await enter(app);
    const many = 'a="1";'.repeat(2_000);
    const cookie = `${many}${NAME}2=x; \t ${NAME}=${refreshToken};b=c`;
    expect((await post('refresh', { headers: { ...SAME, cookie } })).status).toBe(200);
  });

  it('of two Cookie headers, each counts', async () => {
    const { refreshToken } = await enter(app);
    const send = async (...cookies: string[]): Promise<number> => {
      const headers = [...cookies.map((cookie) => `Cookie: ${cookie}`), 'Sec-Fetch-Site: same-origin'];
      return (await rawTarget(app.port, '/api/auth/refresh', { method: 'POST', headers })).status ?? 0;
    };
    expect(await send(`${NAME}=${refreshToken}`, `${NAME}=x`)).toBe(401);
    expect(await send('a=b', `${NAME}=${refreshToken}`)).toBe(200);
  });

  it('pages ask without a cookie as often as they like, and forged ones are guesses', async () => {
    const limited = await start(platform, { throttle: { addressTries: 3 } });
    const ask = async (headers: Record<string, string>): Promise<number> =>
      (await request(limited.url, 'POST', '/api/auth/refresh', { headers: { ...SAME, ...headers } })).status;
    const statuses: number[] = [];
    for (let times = 0; times < 10; times += 1) statuses.push(await ask({}));
    for (let times = 0; times < 5; times += 1) statuses.push(await ask({ cookie: `${NAME}=${'x'.repeat(86)}` }));
    expect(statuses).toEqual([...Array<number>(13).fill(401), 429, 429]);
    await limited.close();
  });

  it('logout ends the session of the cookie, or that of the access token, and removes the cookie', async () => {
    const [first, second] = [await enter(app), await enter(app)];
    const byCookie = await post('logout', withCookie(first.refreshToken));
    const byToken = await post('logout', { headers: SAME, token: second.token });
    for (const { status, headers, text } of [byCookie, byToken])
      expect([status, headers['set-cookie'], headers['clear-site-data'], text]).toEqual([204, REMOVED, undefined, '']);
    for (const { refreshToken } of [first, second]) expect((await refresh(refreshToken)).status).toBe(401);
    expect((await post('logout', { headers: SAME })).status).toBe(401);
    const third = await enter(app);
    const all = await post('logout-all', { token: third.token });
    expect([all.status, all.headers['set-cookie'], (await refresh(third.refreshToken)).status]).toEqual([
      204,
      REMOVED,
      401,
    ]);
  });

  it('logouts clear the data of the site where the option says so', async () => {
    const clearing = await startAuth(platform, { auth: { sessions: { clearSiteData: true } } });
    const { token } = await clearing.register({ email: uniqueEmail() });
    for (const path of ['logout-all', 'logout']) {
      const { headers } = await clearing.post(`/api/auth/${path}`, undefined, { token });
      expect([path, headers['clear-site-data'], headers['set-cookie']]).toEqual([
        path,
        '"cache", "cookies", "storage"',
        undefined,
      ]);
    }
    await clearing.close();
  });

  it('keeps cookies of the application on the same answer', async () => {
    const configure = (main: INestApplication) => {
      type Platforms = { addHook(name: 'onRequest', hook: Hook): void; use(hook: Hook): void };
      type Hook = (request: unknown, response: { header(name: string, value: string): void }, next: () => void) => void;
      const hook: Hook = (_, response, next) => (response.header('Set-Cookie', 'a=1'), next());
      const instance = main.getHttpAdapter().getInstance() as Platforms;
      if (platform === 'fastify') instance.addHook('onRequest', hook);
      else main.use(hook);
    };
    const other = await startAuth(platform, { auth: { sessions: { cookie: true } }, configure });
    const { headers } = await other.post('/api/auth/register', { email: uniqueEmail(), password: PASSWORD });
    expect(headers['set-cookie']).toMatch(new RegExp(`^a=1, ${NAME}=[\\w-]{86}; Max-Age`));
    await other.close();
  });

  it('a login that fails behind the hooks sets no cookie', async () => {
    let isBroken = false;
    const claims = (): object => {
      if (isBroken) throw new Error('no claims');
      return {};
    };
    const other = await start(platform, { claims });
    const { email } = await enter(other);
    isBroken = true;
    const { status, headers } = await other.post('/api/auth/login', { email, password: PASSWORD });
    expect([status, headers['set-cookie'], await rows(other).count()]).toEqual([500, undefined, 1]);
    await other.close();
  });

  it('a login by a plugin sets the cookie; one by another controller fails, and leaves no session', async () => {
    const byPlugin = accountEndpoint({
      name: 'enter',
      route: 'POST enter',
      access: 'public',
      summary: 'Log in',
      run: ({ get }, { request: sent }) => get(Logins).complete({ id: 1 }, sent),
    });
    @Controller()
    class OwnController {
      constructor(private readonly logins: Logins) {}
      @Post('own')
      own(@Req() sent: HttpRequest) {
        return this.logins.complete({ id: 1 }, sent);
      }
    }
    const plugins = [{ name: 'door', endpoints: [byPlugin] }];
    const other = await startAuth(platform, {
      auth: { sessions: { cookie: true }, plugins },
      controllers: [OwnController],
    });
    await enter(other);
    expect(setBy(await other.post('/api/auth/enter', {}))).toMatch(TOKEN);
    expect((await other.post('/own', {})).status).toBe(500);
    expect(await rows(other).count()).toBe(2);
    expect(other.logs.join('\n')).toContain('Set-Cookie must be sent by an account endpoint, got another route.');
    await other.close();
  });

  it('the document says what the endpoints take and answer', () => {
    const document = SwaggerModule.createDocument(app.app, new DocumentBuilder().build());
    const { refresh: operation, login } = {
      refresh: document.paths['/api/auth/refresh']?.post,
      login: document.paths['/api/auth/login']?.post,
    };
    expect(operation?.parameters).toEqual([
      expect.objectContaining({
        in: 'header',
        name: 'X-Requested-With',
        required: false,
        description: expect.stringContaining(NAME),
      }),
    ]);
    expect(Object.keys(operation?.responses ?? {})).toEqual(expect.arrayContaining(['200', '401', '403']));
    expect(JSON.stringify([operation?.responses, operation?.requestBody, login?.responses])).not.toContain(
      'refreshToken',
    );
  });

  describe('pages of other origins', () => {
    const ORIGIN = 'https://app.shop.example';
    const startWith = (auth: Partial<AuthOptions>, ...origins: [] | [string]) => {
      @Module({})
      class Origins implements NestModule {
        configure(consumer: MiddlewareConsumer): void {
          consumer.apply(cors(...origins)).forRoutes('/api/auth/*path', '/who');
        }
      }
      return startAuth(platform, { auth, imports: [Origins] });
    };
    const credentialsOf = async (of: AuthApp): Promise<(string | undefined)[]> => {
      const headers = { origin: ORIGIN, 'access-control-request-method': 'POST' };
      const answers = [
        await request(of.url, 'OPTIONS', '/api/auth/refresh', { headers }),
        await request(of.url, 'POST', '/api/auth/refresh', { headers }),
        await request(of.url, 'GET', '/api/auth/me', { headers }),
        await request(of.url, 'GET', '/who', { headers }),
      ];
      return answers.map((answer) => answer.headers['access-control-allow-credentials']);
    };

    it('get credentials of account endpoints only, and only with an explicit origin', async () => {
      const explicit = await startWith({ sessions: { cookie: true } }, ORIGIN);
      expect(await credentialsOf(explicit)).toEqual(['true', 'true', 'true', undefined]);
      expect(linesOf(explicit.logs, 'warn').join()).not.toContain('cors()');
      await explicit.close();
      const none = Array<undefined>(4).fill(undefined);
      const every = await startWith({ sessions: { cookie: true } });
      expect(await credentialsOf(every)).toEqual(none);
      expect(linesOf(every.logs, 'warn').filter((line) => line.includes('cors()'))).toEqual([
        'warn [cors] cors() allows every origin, and browsers send cookies to /api/auth/* from none of them. Pass the origin of the pages that log in, such as cors("https://shop.example").',
      ]);
      await every.close();
      const plain = await startWith({ sessions: true }, ORIGIN);
      expect(await credentialsOf(plain)).toEqual(none);
      await plain.close();
    });
  });
});
