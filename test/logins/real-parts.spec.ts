/** Users of real parts from npm, on loopback: the certified server oidc-provider, passport-jwt, and better-auth. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Controller, Get, Injectable, Module, Req, UseGuards } from '@nestjs/common';
import { AuthGuard, PassportModule, PassportStrategy } from '@nestjs/passport';
import { betterAuth } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import { fromNodeHeaders, toNodeHandler } from 'better-auth/node';
import { jwt } from 'better-auth/plugins';
import { fromRequest } from 'declarest';
import { jwks } from 'declarest-logins/jwks';
import { exportJWK, generateKeyPair } from 'jose';
import { Provider } from 'oidc-provider';
import { ExtractJwt, Strategy } from 'passport-jwt';
import { request } from '../harness/client.js';
import { PLATFORMS } from '../harness/platforms.js';
import { makeToken } from '../harness/tokens.js';
import { type NotesApp, startNotes } from './notes-app.js';

const servers: Server[] = [];
afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
});

/** @returns the address of the server, whose handler may need it */
async function serve(create: (url: string) => RequestListener | Promise<RequestListener>): Promise<string> {
  const server = createServer();
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  server.on('request', await create(url));
  return url;
}

const SECRET = 'a-secret-of-passport-of-more-than-32-bytes';

@Injectable()
class JwtStrategy extends PassportStrategy(Strategy) {
  constructor() {
    super({ jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(), secretOrKey: SECRET, algorithms: ['HS256'] });
  }
  validate({ sub, groups }: { sub: string; groups?: string[] }) {
    if (sub === 'broken') throw new Error('the directory is away');
    return sub === 'gone' ? null : { userId: sub, groups };
  }
}

/** Its own guard runs behind the rules, as before. */
@Controller('api/guarded')
@UseGuards(AuthGuard('jwt'))
class GuardedController {
  @Get()
  get(@Req() { user }: { user: unknown }) {
    return user;
  }
}

@Module({ imports: [PassportModule], controllers: [GuardedController], providers: [JwtStrategy] })
class LoginModule {}

describe.each(PLATFORMS)('on %s', (platform) => {
  let app: NotesApp;
  afterEach(() => app?.close());
  const statuses = (headers: Record<string, string>) =>
    Promise.all(
      ['/open', '/api/me', '/api/admin', '/api/edit', '/api/notes'].map(
        async (path) => (await app.get(path, { headers })).status,
      ),
    );

  it('tokens of oidc-provider are accepted by jwks()', async () => {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true });
    const key = { ...(await exportJWK(privateKey)), kid: 'es', alg: 'ES256', use: 'sig' };
    const issuer = await serve((url) =>
      new Provider(url, {
        jwks: { keys: [key as never] },
        clients: [
          {
            client_id: 'batch',
            client_secret: 'a-secret',
            grant_types: ['client_credentials'],
            redirect_uris: [],
            response_types: [],
            id_token_signed_response_alg: 'ES256',
          },
        ],
        extraTokenClaims: () => ({ roles: ['ADMIN'] }),
        features: {
          devInteractions: { enabled: false },
          clientCredentials: { enabled: true },
          resourceIndicators: {
            enabled: true,
            getResourceServerInfo: (_context, resource) => ({
              scope: 'notes',
              audience: resource,
              accessTokenFormat: 'jwt',
              jwt: { sign: { alg: 'ES256' } },
            }),
          },
        },
      }).callback(),
    );
    const tokenFor = async (resource: string) => {
      const body = new URLSearchParams({ grant_type: 'client_credentials', resource });
      const headers = { authorization: `Basic ${Buffer.from('batch:a-secret').toString('base64')}` };
      const answer = await fetch(`${issuer}/token`, { method: 'POST', body, headers });
      return ((await answer.json()) as { access_token: string }).access_token;
    };
    app = await startNotes(platform, { authenticate: jwks({ issuer, audience: 'https://notes.example' }) });
    const token = await tokenFor('https://notes.example');
    expect(await statuses({ authorization: `Bearer ${token}` })).toEqual([200, 200, 200, 403, 200]);
    expect((await app.get('/api/me', { token })).json).toEqual({ id: 'batch', email: '', roles: ['ADMIN'] });
    const other = await tokenFor('https://other.example');
    expect(await statuses({ authorization: `Bearer ${other}` })).toEqual([200, 401, 401, 401, 401]);
  });

  it('users of passport-jwt are accepted by fromRequest(), and its 401 closes no public route', async () => {
    const authenticate = fromRequest(({ user }) => user && { ...user, id: user.userId, roles: user.groups }, {
      guards: [AuthGuard('jwt')],
    });
    app = await startNotes(platform, { authenticate }, { imports: [LoginModule] });
    const exp = Math.floor(Date.now() / 1000) + 300;
    const of = (payload: object) => ({
      authorization: `Bearer ${makeToken({ payload: { exp, ...payload }, secret: SECRET })}`,
    });
    expect(await statuses({})).toEqual([200, 401, 401, 401, 401]);
    expect(await statuses(of({ sub: 'ann' }))).toEqual([200, 200, 403, 403, 200]);
    expect(await statuses(of({ sub: 'ann', groups: ['ADMIN'] }))).toEqual([200, 200, 200, 403, 200]);
    expect(await statuses(of({ sub: 'ann', exp: 1 }))).toEqual([200, 401, 401, 401, 401]);
    expect(await statuses(of({ sub: 'gone' }))).toEqual([200, 401, 401, 401, 401]);
    expect(await statuses(of({ sub: 'broken' }))).toEqual([200, 503, 503, 503, 503]);
    const forged = makeToken({ payload: { exp, sub: 'ann' }, secret: 'another-secret-of-more-than-32-bytes!!' });
    expect(await statuses({ authorization: `Bearer ${forged}` })).toEqual([200, 401, 401, 401, 401]);
    const guarded = await app.get('/api/guarded', { headers: of({ sub: 'ann' }) });
    expect([guarded.status, guarded.json]).toEqual([200, { userId: 'ann' }]);
  });

  it('users of better-auth are accepted by their cookie, and by their token', async () => {
    const tables = { user: [], session: [], account: [], verification: [], jwks: [] };
    let auth!: ReturnType<typeof createAuth>;
    const createAuth = (baseURL: string) =>
      betterAuth({
        baseURL,
        secret: 'a-secret-of-better-auth-of-more-than-32-bytes',
        database: memoryAdapter(tables),
        emailAndPassword: { enabled: true },
        plugins: [jwt()],
        telemetry: { enabled: false },
      });
    const url = await serve((base) => toNodeHandler((auth = createAuth(base))));
    const signUp = await request(url, 'POST', '/api/auth/sign-up/email', {
      json: { name: 'Ann', email: 'ann@example.com', password: 'correct horse battery' },
      headers: { origin: url },
    });
    expect(signUp.status).toBe(200);
    const cookie = signUp.headers['set-cookie']!.split(';')[0]!;
    const { id } = signUp.json.user as { id: string };

    app = await startNotes(platform, {
      authenticate: async ({ headers }) => {
        const session = await auth.api.getSession({ headers: fromNodeHeaders(headers) });
        return session && { id: session.user.id, email: session.user.email };
      },
    });
    expect(await statuses({ cookie })).toEqual([200, 200, 403, 403, 200]);
    expect(await statuses({ cookie: `${cookie}x` })).toEqual([200, 401, 401, 401, 401]);
    expect((await app.get('/api/me', { headers: { cookie } })).json).toEqual({
      id,
      email: 'ann@example.com',
      roles: [],
    });
    await app.close();

    const { token } = (await request(url, 'GET', '/api/auth/token', { headers: { cookie } })).json as { token: string };
    app = await startNotes(platform, {
      authenticate: jwks({ issuer: url, audience: url, jwksUri: `${url}/api/auth/jwks` }),
    });
    expect(await statuses({ authorization: `Bearer ${token}` })).toEqual([200, 200, 403, 403, 200]);
    expect(await statuses({ cookie })).toEqual([200, 401, 401, 401, 401]);
  });
});
