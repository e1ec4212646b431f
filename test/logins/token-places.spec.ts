/** jwks() with tokens in a header or cookie, and several sources in one application. */
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { AccessModule, type AuthenticateOption, fromRequest, type HttpRequest } from 'declarest';
import { jwks, type JwksOptions } from 'declarest-logins/jwks';
import { addAccess } from 'declarest/openapi';
import { request } from '../harness/client.js';
import { bootError, linesOf, PLATFORMS } from '../harness/platforms.js';
import { AUDIENCE, type Issuer, startIssuer } from './issuer.js';
import { type NotesApp, startNotes } from './notes-app.js';

let issuer: Issuer;
let app: NotesApp;
let token: string;
beforeEach(async () => {
  issuer = await startIssuer();
  token = await issuer.sign();
});
afterEach(() => app?.close());

const source = (options: Partial<JwksOptions> = {}) => jwks({ issuer: issuer.issuer, audience: AUDIENCE, ...options });

describe.each(PLATFORMS)('on %s', (platform) => {
  const start = async (authenticate: AuthenticateOption) => (app = await startNotes(platform, { authenticate }));
  const statusOf = async (headers: Record<string, string | string[]>, method = 'GET', path = '/api/me') =>
    (
      await request(app.url, method, path, {
        headers: headers as never,
        ...(method === 'POST' && { json: { text: 'a' } }),
      })
    ).status;

  it('a header has the token, once, and no other place has', async () => {
    await start(source({ credential: { in: 'header', name: 'Cf-Access-Jwt-Assertion' } }));
    const name = 'cf-access-jwt-assertion';
    expect(await statusOf({ [name]: token })).toBe(200);
    expect(await statusOf({ [name]: token }, 'POST', '/api/notes')).toBe(201);
    for (const sent of [
      { [name]: `Bearer ${token}` },
      { [name]: [token, token] },
      { authorization: `Bearer ${token}` },
    ])
      expect(await statusOf(sent)).toBe(401);
    expect(await statusOf({ cookie: `${name}=${token}` })).toBe(401);
  });

  it('a cookie has the token, once, and no other place has', async () => {
    await start(source({ credential: { in: 'cookie', name: '__session' } }));
    const cookie = `a=b; __session=${token}; c=d`;
    expect(await statusOf({ cookie })).toBe(200);
    for (const sent of [{ cookie: `${cookie}; __session=x` }, { cookie: `__session2=${token}` }, { __session: token }])
      expect(await statusOf(sent)).toBe(401);
    expect(await statusOf({ authorization: `Bearer ${token}` })).toBe(401);
    const refused = await app.get('/api/me');
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([401, 'Bearer']);
  });

  it('a cookie counts for changes, and with `Origin`, only where a page of this server sends it', async () => {
    await start(source({ credential: { in: 'cookie', name: '__session' } }));
    const { host } = new URL(app.url);
    const foreign: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `https://${host}.evil.example` },
      { origin: 'https://evil.example', 'sec-fetch-site': 'same-site' },
    ];
    const own: Record<string, string>[] = [
      { origin: `http://${host}` },
      { origin: 'https://app.example', 'x-requested-with': 'fetch' },
      { 'sec-fetch-site': 'same-origin' },
    ];
    const cookie = `__session=${token}`;
    for (const each of [{}, ...foreign, { 'sec-fetch-site': 'cross-site' }])
      expect([each, await statusOf({ cookie, ...each }, 'POST', '/api/notes')]).toEqual([each, 401]);
    for (const each of own)
      expect([each, await statusOf({ cookie, ...each }, 'POST', '/api/notes')]).toEqual([each, 201]);
    // A connection of WebSocket begins with GET, and its answers are read by any page.
    for (const each of foreign) expect([each, await statusOf({ cookie, ...each })]).toEqual([each, 401]);
    for (const each of [{}, ...own]) expect([each, await statusOf({ cookie, ...each })]).toEqual([each, 200]);
    expect(await statusOf({ cookie }, 'DELETE', '/api/notes/1')).toBe(401);
  });

  it('the document names the place', async () => {
    const schemesOf = (build = new DocumentBuilder()) => {
      const config = build.setOpenAPIVersion('3.1.0').build();
      const { components, paths } = addAccess(SwaggerModule.createDocument(app.app, config), app.app);
      return [components?.securitySchemes, paths['/api/me']?.get?.security];
    };
    await start(source({ credential: { in: 'cookie', name: '__session' } }));
    const scheme = { type: 'apiKey', in: 'cookie', name: '__session' };
    expect(schemesOf()).toEqual([{ cookie: scheme }, [{ cookie: [] }]]);
    // A scheme that the application declares for something else does not count.
    const declared = new DocumentBuilder().addBearerAuth().addCookieAuth('__session', undefined, 'page');
    expect(schemesOf(declared)[1]).toEqual([{ page: [] }]);
    expect(schemesOf(new DocumentBuilder().addBearerAuth())[1]).toEqual([{ cookie: [] }]);
    await app.close();
    await start(source({ credential: { in: 'header', name: 'X-Token' } }));
    expect(schemesOf()[0]).toEqual({ header: { type: 'apiKey', in: 'header', name: 'X-Token' } });
    await app.close();
    await start([source(), source({ credential: { in: 'cookie', name: '__session' } })]);
    expect(schemesOf()[0]).toEqual({ bearer: expect.objectContaining({ scheme: 'bearer' }) });
  });

  it('of several issuers, each verifies its own tokens, also while the key server of another is away', async () => {
    const other = await startIssuer('/other');
    await start([
      source(),
      jwks({ issuer: other.issuer, audience: 'other', principal: ({ sub }) => ({ id: `o|${sub}` }) }),
    ]);
    const me = async (sent: string) => {
      const { status, json } = await app.get('/api/me', { token: sent });
      return status === 200 ? json.id : status;
    };
    const ofOther = await other.sign({ aud: 'other' });
    expect([await me(token), await me(ofOther)]).toEqual(['ann', 'o|ann']);
    // Signed by one in the name of the other, and for the audience of the other.
    expect(await me(await issuer.sign({ iss: other.issuer, aud: 'other' }))).toBe(401);
    expect(await me(await other.sign({ iss: issuer.issuer }))).toBe(401);
    expect([await me(await issuer.sign({ aud: 'other' })), await me(await other.sign())]).toEqual([401, 401]);
    await app.close();
    await issuer.close();
    await start([source(), jwks({ issuer: other.issuer, audience: 'other' })]);
    expect([await me(token), await me(ofOther), await me(await issuer.sign({ iss: 'https://x.example' }))]).toEqual([
      503,
      'ann',
      401,
    ]);
  });

  it('functions and classes may stand beside them, in their order', async () => {
    class Tickets {
      authenticate({ headers }: HttpRequest) {
        return headers['x-ticket'] === '7' ? { id: 'ticket' } : undefined;
      }
    }
    await start([({ headers }) => (headers['x-user'] ? { id: 'header' } : null), Tickets, source()]);
    const idOf = async (headers: Record<string, string>) => (await app.get('/open', { headers })).json.user?.id;
    const authorization = `Bearer ${token}`;
    expect(await idOf({})).toBeUndefined();
    expect(await idOf({ authorization })).toBe('ann');
    expect(await idOf({ authorization, 'x-ticket': '7' })).toBe('ticket');
    expect(await idOf({ authorization, 'x-ticket': '7', 'x-user': '1' })).toBe('header');
  });

  it('a token that is bound to a key is refused, with one line in the log', async () => {
    await start(source());
    for (const cnf of [{ jkt: 'x' }, { 'x5t#S256': 'x' }, { jwk: {} }, { jku: 'x' }, null])
      expect((await app.get('/api/me', { token: await issuer.sign({ cnf }) })).status).toBe(401);
    const lines = linesOf(app.logs, 'warn').filter((line) => line.includes('bound to a key'));
    expect([lines.length, lines[0]]).toEqual([1, expect.stringContaining(issuer.issuer)]);
    expect(await statusOf({ authorization: `DPoP ${token}`, dpop: 'proof' })).toBe(401);
  });

  it('every audience is accepted only where `audience` is false, with a line in the log', async () => {
    await start(source({ audience: false }));
    for (const aud of [undefined, 'other']) expect(await statusOf(asBearer(await issuer.sign({ aud })))).toBe(200);
    expect(await statusOf(asBearer(await issuer.sign({ nonce: 'n' })))).toBe(401);
    expect(linesOf(app.logs, 'warn').join()).toContain(`accepts all tokens of ${issuer.issuer}`);
  });
});

const asBearer = (sent: string) => ({ authorization: `Bearer ${sent}` });

it.each([
  ['an array without sources', [], /`authenticate` must be a function.+ or an array of them, got an array of 0/],
  ['an object in an array', [{}], /`authenticate` must be a function.+got an object/],
  ['fromRequest() in an array', [fromRequest(({ user }) => user)], /must read the token itself, got fromRequest/],
])('the start is refused by one sentence for %s', async (_what, authenticate, sentence) => {
  const imports = () => [AccessModule.forRoot({ authenticate: authenticate as never })];
  const error = await Promise.resolve()
    .then(() => bootError('express', { imports: imports() }))
    .catch((thrown: Error) => thrown);
  expect(error.message).toMatch(sentence);
});
