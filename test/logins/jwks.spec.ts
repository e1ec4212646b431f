/** jwks(): bearer tokens of another issuer, and the attacks on them. */
import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type CryptoKey, exportSPKI, generateKeyPair, importJWK, type JWK, UnsecuredJWT } from 'jose';
import { jwks, type JwksOptions } from 'declarest-logins/jwks';
import { claims, makeToken } from '../harness/tokens.js';
import { linesOf, ONE_PLATFORM, type Platform } from '../harness/platforms.js';
import { AUDIENCE, type Issuer, startIssuer } from './issuer.js';
import { type NotesApp, startNotes } from './notes-app.js';

const now = (): number => Math.floor(Date.now() / 1000);
const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Is made once: RSA keys take long. */
const keyPair = await generateKeyPair('RS256', { extractable: true });
let issuer: Issuer;
let app: NotesApp;
beforeEach(async () => {
  issuer = await startIssuer('/realms/notes', undefined, keyPair);
});
afterEach(async () => {
  vi.useRealTimers();
  await app?.close();
});

const start = async (options: Partial<JwksOptions> = {}, platform: Platform = 'express') =>
  (app = await startNotes(platform, {
    authenticate: jwks({ issuer: issuer.issuer, audience: AUDIENCE, ...options }),
  }));
const me = async (token: string) => (await app.get('/api/me', { token })).status;
const userOf = async (token: string) => (await app.get('/api/me', { token })).json;

/** From now on. */
const afterSeconds = (seconds: number) => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + seconds * 1000 });

describe.each(ONE_PLATFORM)('tokens of an issuer on %s', (platform) => {
  it('have the user and the roles of their claims, and open what the rules allow', async () => {
    await start({ principal: { roles: 'realm_access.roles', tenantId: 'organization.id' } }, platform);
    const token = await issuer.sign({
      email: 'ann@example.com',
      realm_access: { roles: ['ADMIN'] },
      organization: { id: 't1' },
    });
    expect(await userOf(token)).toEqual({ id: 'ann', email: 'ann@example.com', roles: ['ADMIN'], tenantId: 't1' });
    expect((await app.get('/api/admin', { token })).status).toBe(200);
    expect((await app.get('/api/edit', { token })).json).toEqual({ error: 'Editor access required' });
    expect((await app.get('/api/own/t1', { token })).status).toBe(200);
    expect(issuer.asked).toEqual(['/realms/notes/.well-known/openid-configuration', '/realms/notes/keys']);
  });

  it('are refused where they are not valid: 401 with the reason of RFC 6750, and public routes ignore them', async () => {
    await start({}, platform);
    const token = await issuer.sign({ exp: now() - 60 });
    const refused = await app.get('/api/me', { token });
    expect([refused.status, refused.json]).toEqual([401, { error: 'Authentication required' }]);
    expect(refused.headers['www-authenticate']).toBe('Bearer error="invalid_token"');
    expect((await app.get('/open', { token })).json).toEqual({ user: null, same: true });
    // The prefix is required, and a proxy in front may have checked the other header.
    const valid = await issuer.sign();
    expect(await me(valid)).toBe(200);
    expect((await app.get('/api/me', { headers: { authorization: valid } })).status).toBe(401);
    expect(
      (await app.get('/api/me', { headers: { authorization: ['Bearer x', `Bearer ${valid}`] as never } })).status,
    ).toBe(401);
  });

  it('are 503 with Retry-After while the key server is away, at the start and later, and public routes go on', async () => {
    await issuer.close();
    await start({}, platform);
    const token = await issuer.sign();
    const away = await app.get('/api/me', { token });
    expect([away.status, away.headers['retry-after']]).toEqual([503, '5']);
    expect(away.text).not.toMatch(/127\.0\.0\.1|ECONN|fetch/);
    expect((await app.get('/open', { token })).status).toBe(200);
    // Without a token, nothing has to be verified.
    expect((await app.get('/api/me')).status).toBe(401);
    expect(
      linesOf(app.logs, 'error').filter((line) => line.includes(`The key server of ${issuer.issuer}`)),
    ).toHaveLength(1);
    await issuer.reopen();
    afterSeconds(6);
    expect(await me(token)).toBe(200);
    vi.useRealTimers();
    await issuer.close();
    // Keys that were read are kept.
    expect(await me(token)).toBe(200);
    afterSeconds(610);
    expect(await me(await issuer.sign())).toBe(503);
    await issuer.reopen();
    afterSeconds(6);
    expect(await me(await issuer.sign())).toBe(200);
  });
});

describe('keys', () => {
  it('are read once, again for a token of a new key, and at most every 30 s for unknown ones', async () => {
    await start();
    const [first, second] = [await issuer.sign(), await issuer.sign()];
    expect(await Promise.all([me(first), me(second), me(first)])).toEqual([200, 200, 200]);
    expect(issuer.asked).toHaveLength(2);
    const next = await issuer.sign({}, { kid: 'next' }, await issuer.addKey('next'));
    // Whether it is a key of the issuer is not known: a client repeats the request.
    const unknown = await app.get('/api/me', { token: next });
    expect([unknown.status, unknown.headers['retry-after']]).toEqual([503, '30']);
    expect(await me(await issuer.sign({}, {}, await issuer.addKey('first of another')))).toBe(401);
    afterSeconds(31);
    expect(await me(next)).toBe(200);
    for (const kid of ['a', 'b', 'c']) expect(await me(await issuer.sign({}, { kid }))).toBe(503);
    expect(issuer.asked).toHaveLength(3);
    afterSeconds(31);
    expect(await me(await issuer.sign({}, { kid: 'a' }))).toBe(401);
  });

  it('that the issuer has withdrawn do not count any more after 10 minutes', async () => {
    await start();
    const next = await issuer.addKey('next', 'ES256');
    const old = await issuer.sign({ exp: now() + 3_600 });
    expect(await me(old)).toBe(200);
    issuer.keys.shift();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 601_000 });
    expect(await me(old)).toBe(401);
    expect(await me(await issuer.sign({}, { alg: 'ES256', kid: 'next' }, next))).toBe(200);
  });

  it('of one name, and without a name, are tried in turn', async () => {
    const [second, third] = [await issuer.addKey('first'), await issuer.addKey('third')];
    issuer.keys.forEach((key, index) => index > 1 && delete key.kid);
    await start();
    for (const key of [issuer.privateKey, second]) expect(await me(await issuer.sign({}, {}, key))).toBe(200);
    expect(await me(await issuer.sign({}, { kid: undefined as never }, third))).toBe(200);
    expect(await me(await issuer.sign({}, {}, third))).toBe(401);
  });

  it.each([
    ['EdDSA', 'Ed25519'],
    ['Ed25519', 'EdDSA'],
  ])('published for %s sign by %s (RFC 9864)', async (published, alg) => {
    const key = await issuer.addKey('curve', published);
    await start();
    expect(await me(await issuer.sign({}, { alg, kid: 'curve' }, key))).toBe(200);
  });

  it('that cannot be used take no other key down', async () => {
    const weak = generateKeyPairSync('rsa', { modulusLength: 1_024 });
    const secret = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const unusable = [
      null,
      'key',
      { kty: 'RSA', kid: 'none' },
      { ...secret.privateKey.export({ format: 'jwk' }), kid: 'own' },
    ];
    issuer.keys.unshift(...(unusable as JWK[]), { ...weak.publicKey.export({ format: 'jwk' }), kid: 'weak' } as JWK);
    await start();
    expect(await me(await issuer.sign())).toBe(200);
    const signed = (kid: string, key: KeyObject): string => {
      const [head] = [
        `${encode({ alg: 'RS256', kid, typ: 'at+jwt' })}.${encode({ iss: issuer.issuer, aud: AUDIENCE, sub: 'ann', exp: now() + 300 })}`,
      ];
      return `${head}.${sign('sha256', Buffer.from(head), key).toString('base64url')}`;
    };
    for (const [kid, { privateKey }] of [
      ['weak', weak],
      ['own', secret],
    ] as const) {
      afterSeconds(31);
      expect([kid, await me(signed(kid, privateKey))]).toEqual([kid, 401]);
    }
  });

  it('are not read for each request while their server is away', async () => {
    await start();
    issuer.answer = (_path, response) => response.writeHead(500).end();
    const token = await issuer.sign();
    for (let index = 0; index < 5; index += 1) expect(await me(token)).toBe(503);
    const before = issuer.asked.length;
    expect(await Promise.all(Array.from({ length: 5 }, () => me(token)))).toEqual(Array(5).fill(503));
    expect(issuer.asked.length).toBe(before);
    issuer.answer = undefined;
    afterSeconds(6);
    expect(await me(token)).toBe(200);
  });

  it.each(['RS256', 'PS384', 'ES256', 'ES512', 'EdDSA'])('sign by %s', async (alg) => {
    const key = await issuer.addKey('other', alg);
    await start();
    expect(await me(await issuer.sign({}, { alg, kid: 'other' }, key))).toBe(200);
  });

  it.each([
    ['redirects to the keys', (response: ServerResponse) => response.writeHead(302, { location: '?moved' }).end()],
    ['fails', (response: ServerResponse) => response.writeHead(500).end()],
    ['answers text', (response: ServerResponse) => response.end('<html>')],
    ['answers another object', (response: ServerResponse) => response.end('{"keys": 1}')],
    [
      'answers more than 256 kB',
      (response: ServerResponse) => response.end(JSON.stringify({ keys: issuer.keys, more: 'x'.repeat(262_144) })),
    ],
    [
      'answers without an end',
      (response: ServerResponse) => {
        const more = setInterval(() => response.write('x'.repeat(65_536)), 1);
        response.on('close', () => clearInterval(more));
      },
    ],
  ])('are not read where the server %s: 503', async (_what, answer) => {
    issuer.answer = (path, response) => {
      if (path.endsWith('/keys')) answer(response);
      else if (path.endsWith('?moved')) response.end(JSON.stringify({ keys: issuer.keys }));
      else metadata(response);
    };
    await start();
    expect(await me(await issuer.sign())).toBe(503);
    issuer.answer = undefined;
    afterSeconds(6);
    expect(await me(await issuer.sign())).toBe(200);
  });

  it('are not read where the server does not answer: 503 in less than 5 s', async () => {
    issuer.answer = () => {};
    await start();
    const token = await issuer.sign();
    const began = performance.now();
    const [open, status] = await Promise.all([app.get('/open', { token }), me(token)]);
    expect([open.status, status]).toEqual([200, 503]);
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  const metadata = (response: ServerResponse, changed = {}) =>
    response.end(JSON.stringify({ issuer: issuer.issuer, jwks_uri: `${issuer.issuer}/keys`, ...changed }));

  it.each([
    ['of another issuer', { issuer: 'https://evil.example' }, 'must name the issuer'],
    ['without an address', { jwks_uri: undefined }, '`jwks_uri`'],
    ['with an address of another scheme', { jwks_uri: 'file:///etc/passwd' }, '`jwks_uri`'],
  ])('are not taken from metadata %s: 503, and the log says why', async (_what, changed, line) => {
    issuer.answer = (_path, response) => metadata(response, changed);
    await start();
    expect(await me(await issuer.sign())).toBe(503);
    expect(linesOf(app.logs, 'error').join()).toContain(line);
  });

  it('are found by RFC 8414, and by jwksUri without any discovery', async () => {
    issuer = await startIssuer('/realms/notes', '/.well-known/oauth-authorization-server/realms/notes');
    await start();
    expect(await me(await issuer.sign())).toBe(200);
    await app.close();
    issuer.asked.length = 0;
    await start({ jwksUri: `${issuer.issuer}/keys` });
    expect(await me(await issuer.sign())).toBe(200);
    expect(issuer.asked).toEqual(['/realms/notes/keys']);
  });
});

describe('keys that the application gives', () => {
  it('verify tokens without any server', async () => {
    await start({ keys: { keys: issuer.keys } });
    expect(await me(await issuer.sign())).toBe(200);
    expect(await me(await issuer.sign({}, { kid: 'next' }, await issuer.addKey('next')))).toBe(401);
    expect(issuer.asked).toEqual([]);
  });

  it('are read by a function once for 10 minutes, and again for a token of an unknown key', async () => {
    const read = vi.fn(async () => ({ keys: issuer.keys }));
    await start({ keys: read });
    const token = await issuer.sign({ exp: now() + 3_600 });
    expect(await Promise.all([me(token), me(token)])).toEqual([200, 200]);
    expect(read).toHaveBeenCalledTimes(1);
    const next = await issuer.sign({}, { kid: 'next' }, await issuer.addKey('next'));
    expect(await me(next)).toBe(503);
    afterSeconds(31);
    expect([await me(next), read.mock.calls.length]).toEqual([200, 2]);
    afterSeconds(640);
    expect([await me(token), read.mock.calls.length, issuer.asked]).toEqual([200, 3, []]);
  });

  it.each<[string, () => unknown]>([
    ['throws', () => Promise.reject(new Error('away'))],
    ['returns no set', () => ({ kind: 'Status' })],
    ['does not end', () => new Promise(() => {})],
  ])('are 503 where the function %s, and only until it works', async (_what, fail) => {
    let read = fail;
    await start({ keys: () => read() });
    expect(await me(await issuer.sign())).toBe(503);
    read = () => ({ keys: issuer.keys });
    afterSeconds(6);
    expect(await me(await issuer.sign())).toBe(200);
  });

  it('of all tenants do not count where they name one tenant, which signs for itself only', async () => {
    const tenant = '22222222-2222-2222-2222-222222222222';
    const all = `${issuer.issuer}/{tenantid}`;
    const own = await issuer.addKey('own');
    issuer.keys[1] = { ...issuer.keys[1]!, issuer: `${issuer.issuer}/${tenant}` } as JWK;
    issuer.keys[0] = { ...issuer.keys[0]!, issuer: all } as JWK;
    await start({ issuer: all, keys: { keys: issuer.keys }, principal: ({ sub }) => ({ id: sub }) });
    const tokenOf = { iss: `${issuer.issuer}/${tenant}`, tid: tenant };
    expect(await me(await issuer.sign(tokenOf))).toBe(200);
    expect(await me(await issuer.sign(tokenOf, { kid: 'own' }, own))).toBe(401);
    // A tenant is a GUID, and that of the issuer.
    for (const tid of ['common', '', '../x', '{tenantid}', [tenant], undefined])
      for (const iss of [tokenOf.iss, `${issuer.issuer}/${String(tid)}`, all])
        expect([tid, iss, await me(await issuer.sign({ iss, tid }))]).toEqual([tid, iss, 401]);
  });
});

describe('a token is refused', () => {
  const publicKey = (): JWK => issuer.keys[0]!;
  const hmac = (header: object, secret: string): string => {
    const head = `${encode(header)}.${encode({ iss: issuer.issuer, aud: AUDIENCE, sub: 'ann', exp: now() + 300 })}`;
    return `${head}.${createHmac('sha256', secret).update(head).digest('base64url')}`;
  };
  const evil = async () => {
    const other = await startIssuer();
    return { key: other.privateKey, jwk: other.keys[0]!, url: `${other.issuer}/keys`, other };
  };

  it.each<[string, () => Promise<string> | string]>([
    [
      'without a signature: alg none',
      () =>
        new UnsecuredJWT({ sub: 'ann' })
          .setIssuer(issuer.issuer)
          .setAudience(AUDIENCE)
          .setExpirationTime('5m')
          .encode(),
    ],
    ['of alg nOnE', () => `${encode({ alg: 'nOnE' })}.${encode({ sub: 'ann', exp: now() + 300 })}.`],
    [
      'signed by HS256 with the public key in PEM',
      async () => {
        const pem = await exportSPKI((await importJWK(publicKey(), 'RS256')) as CryptoKey);
        return hmac({ alg: 'HS256', kid: 'first' }, pem);
      },
    ],
    [
      'signed by HS256 with the public key in DER',
      () => {
        const der = createPublicKey({ key: publicKey() as never, format: 'jwk' }).export({
          type: 'spki',
          format: 'der',
        });
        return hmac({ alg: 'HS256', kid: 'first' }, der as never);
      },
    ],
    ['signed by HS256 with an empty secret', () => hmac({ alg: 'HS256', kid: 'first' }, '')],
    ['of AuthModule', () => makeToken({ payload: claims({ iss: issuer.issuer, aud: AUDIENCE }) })],
    ['of a kid that is a path', () => issuer.sign({}, { kid: '../../../../dev/null' })],
    ['of a kid that is SQL', () => issuer.sign({}, { kid: "first' UNION SELECT 'x" })],
    ['of a kid that is a member of objects', () => issuer.sign({}, { kid: '__proto__' })],
    [
      'with the key in its header: jwk',
      async () => {
        const { key, jwk } = await evil();
        return issuer.sign({}, { jwk }, key);
      },
    ],
    [
      'with the address of its key in its header: jku and x5u',
      async () => {
        const { key, url, other } = await evil();
        const token = await issuer.sign({}, { jku: url, x5u: url }, key);
        afterEachAsk.push(() => expect(other.asked).toEqual([]));
        return token;
      },
    ],
    [
      'with an extension that is not understood',
      () => issuer.sign({}, { crit: ['exp2'], exp2: 1 } as never).catch(() => 'x'),
    ],
    ['of an issuer with a slash behind it', () => issuer.sign({ iss: `${issuer.issuer}/` })],
    ['of another tenant of the server', () => issuer.sign({ iss: issuer.issuer.replace('notes', 'other') })],
    ['without an issuer', () => issuer.sign({ iss: undefined })],
    ['for another audience', () => issuer.sign({ aud: 'other' })],
    ['for other audiences', () => issuer.sign({ aud: ['other', `${AUDIENCE}2`] })],
    ['for no audience', () => issuer.sign({ aud: undefined })],
    ['for an audience that is an object', () => issuer.sign({ aud: { [AUDIENCE]: true } })],
    ['of another client without an audience', () => issuer.sign({ aud: undefined, client_id: 'other' })],
    ['with the client in place of its audience', () => issuer.sign({ aud: 'other', client_id: AUDIENCE })],
    ['that has expired', () => issuer.sign({ exp: now() - 31 })],
    ['without an end', () => issuer.sign({ exp: undefined })],
    ['whose end is a text', () => issuer.sign({ exp: '9999999999' })],
    ['that is not valid yet', () => issuer.sign({ nbf: now() + 60 })],
    ['that is an ID token of Keycloak', () => issuer.sign({ typ: 'ID' })],
    ['that is an ID token of Cognito', () => issuer.sign({ token_use: 'id' })],
    ['that is a logout token', () => issuer.sign({ events: {} })],
    ['that is an ID token of a login in a browser', () => issuer.sign({ nonce: 'n' })],
    ['that is an ID token with the hash of an access token', () => issuer.sign({ at_hash: 'h' })],
    ['that is an ID token with the hash of a code', () => issuer.sign({ c_hash: 'h' })],
    ['that is an ID token with the hash of a state', () => issuer.sign({ s_hash: 'h' })],
    ['that is bound to a key by DPoP', () => issuer.sign({ cnf: { jkt: 'thumbprint' } })],
    ['that is bound to a certificate', () => issuer.sign({ cnf: { 'x5t#S256': 'thumbprint' } })],
    ['of the type logout+jwt', () => issuer.sign({}, { typ: 'logout+jwt' })],
    ['of the type dpop+jwt', () => issuer.sign({}, { typ: 'dpop+jwt' })],
    ['without a subject', () => issuer.sign({ sub: undefined })],
    ['whose subject is an object', () => issuer.sign({ sub: {} })],
    ['whose roles are an object', () => issuer.sign({ roles: { 0: 'ADMIN', length: 1 } })],
    ['with a role that is no text', () => issuer.sign({ roles: ['ADMIN', null] })],
    [
      'with another payload than it was signed for',
      async () => {
        const [head, , signature] = (await issuer.sign()).split('.');
        return `${head}.${encode({ iss: issuer.issuer, aud: AUDIENCE, sub: 'bob', exp: now() + 300 })}.${signature}`;
      },
    ],
    ['that is no token', () => 'a.b.c'],
    ['that is no JSON', () => 'eA.eA.eA'],
  ])('%s', async (_what, make) => {
    await start();
    expect(await me(await make())).toBe(401);
    for (const check of afterEachAsk.splice(0)) check();
    expect(await me(await issuer.sign())).toBe(200);
  });
  const afterEachAsk: (() => void)[] = [];

  it('signed for HS256 in a set that publishes a secret', async () => {
    issuer.keys.push({ kty: 'oct', k: Buffer.from('secret').toString('base64url'), kid: 'oct' });
    await start();
    expect(await me(hmac({ alg: 'HS256', kid: 'oct' }, 'secret'))).toBe(401);
  });
});

describe('tokens of known servers are accepted', () => {
  it.each<[string, object, object, Partial<JwksOptions>, object]>([
    [
      'Keycloak',
      { typ: 'Bearer', azp: 'web', aud: [AUDIENCE, 'account'], realm_access: { roles: ['ADMIN'] } },
      { typ: 'JWT' },
      { principal: { roles: 'realm_access.roles' } },
      { id: 'ann', email: '', roles: ['ADMIN'] },
    ],
    [
      'Auth0',
      { sub: 'auth0|1', 'https://notes.example/roles': ['ADMIN'], scope: 'openid' },
      { typ: 'JWT' },
      { principal: { roles: 'https://notes.example/roles' } },
      { id: 'auth0|1', email: '', roles: ['ADMIN'] },
    ],
    [
      'Entra',
      { oid: 'o', tid: 't', ver: '2.0', roles: ['ADMIN'] },
      { typ: 'JWT' },
      { principal: { id: 'oid' } },
      { id: 'o', email: '', roles: ['ADMIN'] },
    ],
    [
      'Cognito',
      { aud: undefined, client_id: AUDIENCE, token_use: 'access', 'cognito:groups': ['ADMIN'] },
      { typ: undefined },
      { principal: { roles: 'cognito:groups' } },
      { id: 'ann', email: '', roles: ['ADMIN'] },
    ],
    [
      'Supabase',
      { aud: 'authenticated', role: 'authenticated', email: 'ann@example.com' },
      { typ: 'JWT' },
      { audience: ['authenticated'], principal: { roles: 'role' } },
      { id: 'ann', email: 'ann@example.com', roles: ['authenticated'] },
    ],
    [
      'scopes as roles',
      { scope: 'notes:read notes:write', email: 'ann@example.com', email_verified: false },
      { typ: 'at+jwt' },
      { principal: { roles: 'scope' } },
      { id: 'ann', email: '', roles: ['notes:read', 'notes:write'] },
    ],
    [
      'a text as email_verified',
      { email: 'ann@example.com', email_verified: 'true', roles: [] },
      {},
      {},
      { id: 'ann', email: 'ann@example.com', roles: [] },
    ],
    [
      'an address that is not verified, as text',
      { email: 'ann@example.com', email_verified: 'false', roles: [] },
      {},
      {},
      { id: 'ann', email: '', roles: [] },
    ],
    [
      'an address that better-auth has not verified',
      { email: 'ann@example.com', emailVerified: false, roles: [] },
      {},
      {},
      { id: 'ann', email: '', roles: [] },
    ],
    [
      'a function of the claims',
      { sub: 'ann' },
      { typ: 'application/at+JWT' },
      {
        principal: async ({ sub }: Readonly<Record<string, unknown>>) => ({ id: `x|${String(sub)}`, roles: ['ADMIN'] }),
      },
      { id: 'x|ann', email: '', roles: ['ADMIN'] },
    ],
  ])('%s', async (_what, payload, header, options, user) => {
    await start(options);
    expect(await userOf(await issuer.sign(payload, header))).toEqual(user);
  });

  it('with clocks that differ by 30 s', async () => {
    await start();
    expect(await me(await issuer.sign({ exp: now() - 25 }))).toBe(200);
    expect(await me(await issuer.sign({ nbf: now() + 25 }))).toBe(200);
  });

  it('with the difference that `clockTolerance` allows', async () => {
    await start({ clockTolerance: 0 });
    expect(await me(await issuer.sign({ exp: now() - 2 }))).toBe(401);
    await app.close();
    await start({ clockTolerance: 60 });
    expect(await me(await issuer.sign({ exp: now() - 55 }))).toBe(200);
    expect(await me(await issuer.sign({ exp: now() - 61 }))).toBe(401);
  });

  it('but not where the function finds no user, or throws, which is logged once', async () => {
    await start({ principal: ({ sub }) => (sub === 'ann' ? undefined : Promise.reject(new Error('no tenant'))) });
    for (const sub of ['ann', 'bob', 'bob']) expect(await me(await issuer.sign({ sub }))).toBe(401);
    const lines = linesOf(app.logs, 'warn').filter((line) => line.includes('`principal` of jwks failed'));
    expect([lines.length, lines[0]]).toEqual([1, expect.stringContaining('no tenant')]);
  });
});

describe('the options of jwks', () => {
  const valid = { issuer: 'https://login.example', audience: 'notes' };
  it.each([
    ['no issuer', { issuer: undefined }, /jwks option `issuer` must be an https URL.+got/],
    ['an issuer that is no URL', { issuer: 'login.example' }, /jwks option `issuer`/],
    ['no audience', { audience: undefined }, /jwks option `audience` must be a name/],
    ['no names in audience', { audience: [] }, /jwks option `audience`/],
    ['a key set of another scheme', { jwksUri: 'ftp://login.example/keys' }, /jwks option `jwksUri`/],
    ['a principal that is a text', { principal: 'roles' }, /jwks option `principal`/],
    ['a path that is a number', { principal: { roles: 1 } }, /jwks option `principal`/],
    ['a path without names', { principal: { roles: [] } }, /jwks option `principal`/],
    ['true as audience', { audience: true }, /jwks option `audience` must be .+ or false, got true/],
    ['a key set without keys', { keys: { keys: [] } }, /jwks option `keys` must be a JWK set with a public key/],
    ['a secret as a key set', { keys: { keys: [{ kty: 'oct', k: 'c2VjcmV0' }] } }, /jwks option `keys`/],
    ['a private key', { keys: { keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'x', d: 'd' }] } }, /jwks option `keys`/],
    ['a short secret', { secret: 'hunter2' }, /jwks option `secret` must be a text of at least 32 bytes, got another/],
    ['no secret', { secret: '' }, /jwks option `secret`/],
    [
      'keys beside a secret',
      { keys: () => ({}), secret: 's'.repeat(32) },
      /Keys of jwks must be in one .+got keys and secret/,
    ],
    [
      'a place in bodies',
      { credential: { in: 'body', name: 'token' } },
      /jwks option `credential` must be \{ in: "header" or/,
    ],
    [
      'the header of bearer tokens',
      { credential: { in: 'header', name: 'Authorization' } },
      /jwks option `credential`/,
    ],
    ['a header that is none', { credential: { in: 'header', name: 'a b' } }, /jwks option `credential`/],
    ['a cookie that is none', { credential: { in: 'cookie', name: 'a=b' } }, /jwks option `credential`/],
    ['a place without a name', { credential: { in: 'cookie' } }, /jwks option `credential`/],
    ['a tolerance without bound', { clockTolerance: 301 }, /jwks option `clockTolerance` must be .+ from 0 to 300/],
    [
      'all tenants without a function',
      { issuer: 'https://login.example/{tenantid}/v2.0' },
      /jwks option `principal` must be a function that decides by the claim `tid`.+got undefined/,
    ],
    ['an unknown option', { algorithms: ['none'] }, /The options of jwks must be .+got "algorithms"/],
  ])('refuse %s', (_what, changed, sentence) => {
    expect(() => jwks({ ...valid, ...changed } as JwksOptions)).toThrow(sentence);
    expect(() => jwks({ ...valid, ...changed } as JwksOptions)).not.toThrow(/hunter2/);
  });

  it('refuse http in production, except on this computer', () => {
    vi.stubEnv('NODE_ENV', 'production');
    expect(() => jwks({ ...valid, issuer: 'http://login.example' })).toThrow(/`issuer` must be an https URL/);
    expect(() => jwks({ ...valid, issuer: 'http://127.0.0.1:8080' })).not.toThrow();
    vi.unstubAllEnvs();
    expect(() => jwks({ ...valid, issuer: 'http://keycloak:8080' })).not.toThrow();
  });
});
