/** `jwtKeys`: access tokens that private keys sign, and the key set by which others verify them. */
import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type AuthOptions, InvalidOptionError, type JwtKey, SecurityConfig } from 'declarest';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { createDatabase } from '../harness/databases.js';
import { ONE_PLATFORM } from '../harness/platforms.js';
import { claims, makeToken, TEST_SECRET } from '../harness/tokens.js';
import { type AuthApp, bootAuth, PASSWORD, startAuth, uniqueEmail } from './auth-app.js';

const pem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();
const publicPem = (privateKey: string): string =>
  createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();

const KEYS: Readonly<Record<JwtKey['alg'], JwtKey>> = {
  EdDSA: { kid: 'ed', alg: 'EdDSA', privateKey: pem(generateKeyPairSync('ed25519').privateKey) },
  ES256: { kid: 'ec', alg: 'ES256', privateKey: pem(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey) },
  RS256: { kid: 'rsa', alg: 'RS256', privateKey: pem(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey) },
};
const ALL = Object.values(KEYS);
const OTHER = pem(generateKeyPairSync('ed25519').privateKey);

const b64 = (part: unknown): string => Buffer.from(JSON.stringify(part)).toString('base64url');
const headerOf = (token: string): unknown => JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString());
const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, number>;

/** A token with this header, signed as the algorithm says, by a key that need not fit. */
function signed(header: object, { alg, privateKey }: Pick<JwtKey, 'alg' | 'privateKey'>, payload: unknown = claims()) {
  const text = `${b64(header)}.${b64(payload)}`;
  const hash = alg === 'EdDSA' ? null : 'sha256';
  return `${text}.${sign(hash, Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}
const by = (key: JwtKey, payload?: unknown, header: object = {}): string =>
  signed({ alg: key.alg, typ: 'JWT', kid: key.kid, ...header }, key, payload);

function hmac(header: object, secret: string): string {
  const text = `${b64(header)}.${b64(claims())}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

const seconds = (): number => Math.floor(Date.now() / 1000);
const statusOf = async (app: AuthApp, token: string): Promise<number> =>
  (await app.get('/api/auth/me', { token })).status;

/** The last of the 86 letters of a signature has four unused bits. */
function otherSpelling(token: string): string {
  const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return token.slice(0, -1) + ALPHABET[ALPHABET.indexOf(token.at(-1) ?? '') ^ 1];
}

const { EdDSA, ES256, RS256 } = KEYS;
const FORGED: [string, () => string][] = [
  ['alg none and no signature', () => `${b64({ alg: 'none', kid: 'ed' })}.${b64(claims())}.`],
  ['alg none and the right signature', () => by(EdDSA, undefined, { alg: 'none' })],
  ['no alg', () => by(EdDSA, undefined, { alg: undefined })],
  ...ALL.map(({ kid, alg, privateKey }): [string, () => string] => [
    `HS256 with the public key of ${alg} as the secret`,
    () => hmac({ alg: 'HS256', typ: 'JWT', kid }, publicPem(privateKey)),
  ]),
  ['HS256 with the public key as the secret, without a kid', () => hmac({ alg: 'HS256' }, publicPem(RS256.privateKey))],
  [
    'HS256 with the secret of the application, and the kid of a key',
    () => hmac({ alg: 'HS256', kid: 'ed' }, TEST_SECRET),
  ],
  ['the kid of another key', () => by(ES256, undefined, { kid: 'rsa' })],
  ['the alg and the kid of another key', () => by(ES256, undefined, { alg: 'RS256', kid: 'rsa' })],
  ['RS256 and the kid of an EdDSA key', () => by(RS256, undefined, { kid: 'ed' })],
  ['the alg of another key', () => by(EdDSA, undefined, { alg: 'ES256' })],
  ['alg in lower case', () => by(EdDSA, undefined, { alg: 'eddsa' })],
  ['RS512 instead of RS256', () => by(RS256, undefined, { alg: 'RS512' })],
  ['an unknown kid', () => by(EdDSA, undefined, { kid: 'Ed' })],
  ['no kid', () => by(EdDSA, undefined, { kid: undefined })],
  ...['__proto__', 'constructor', "x' OR '1'='1", '../../dev/null', ['ed'], { ed: 1 }, 0, null].map(
    (kid): [string, () => string] => [`the kid ${JSON.stringify(kid)}`, () => by(EdDSA, undefined, { kid })],
  ),
  ['a key of the sender under a known kid', () => by({ ...EdDSA, privateKey: OTHER })],
  [
    'a key of the sender in the header (jwk)',
    () => {
      const jwk = createPublicKey(OTHER).export({ format: 'jwk' });
      return by({ ...EdDSA, privateKey: OTHER }, undefined, {
        jwk,
        jku: 'https://evil.example',
        x5u: 'https://evil.example',
      });
    },
  ],
  ['a critical extension', () => by(EdDSA, undefined, { crit: ['exp'] })],
  ['an array as header', () => signed([], EdDSA)],
  [
    'another role under the old signature',
    () => by(EdDSA).replace(/\.[^.]+\./, `.${b64(claims({ roles: ['ADMIN'] }))}.`),
  ],
  ['its last letter changed to one of the same bytes', () => otherSpelling(by(EdDSA))],
  ['a letter more in its signature', () => `${by(EdDSA)}A`],
  ['a fourth part', () => `${by(EdDSA)}.e30`],
  [
    'a signature in DER',
    () =>
      `${by(ES256).replace(/[^.]+$/, '')}${sign('sha256', Buffer.from(by(ES256).replace(/\.[^.]+$/, '')), ES256.privateKey).toString('base64url')}`,
  ],
  ['no exp', () => by(EdDSA, claims({ exp: undefined }))],
  ['exp as text', () => by(EdDSA, claims({ exp: String(seconds() + 60) }))],
  ['exp one second ago', () => by(EdDSA, claims({ exp: seconds() - 1 }))],
  ['nbf in the future', () => by(EdDSA, claims({ nbf: seconds() + 60 }))],
  ['nbf as text', () => by(EdDSA, claims({ nbf: '0' }))],
  ['a number as sub', () => by(EdDSA, claims({ sub: 1 }))],
  ['roles as text', () => by(EdDSA, claims({ roles: 'ADMIN' }))],
  ['claims that are null', () => by(EdDSA, null)],
  ['claims that are text', () => by(EdDSA, 'x')],
];

describe.each(ONE_PLATFORM)('on %s', (platform) => {
  let app: AuthApp;
  beforeAll(async () => {
    app = await startAuth(platform, { auth: { jwtKeys: ALL } });
    // The tokens below are for this user, whose id is 1.
    await app.register({ email: uniqueEmail() });
  });
  afterAll(() => app.close());

  it('the key set has the public keys and nothing else, for everybody and for caches', async () => {
    const { status, headers, json } = await app.get('/.well-known/jwks.json');
    expect([status, headers['cache-control']]).toEqual([200, 'public, max-age=300']);
    expect(headers['content-type']).toMatch(/^application\/json/);
    const text = expect.stringMatching(/^[\w-]+$/);
    expect(json).toEqual({
      keys: [
        { kty: 'OKP', crv: 'Ed25519', x: text, kid: 'ed', alg: 'EdDSA', use: 'sig' },
        { kty: 'EC', crv: 'P-256', x: text, y: text, kid: 'ec', alg: 'ES256', use: 'sig' },
        { kty: 'RSA', n: text, e: 'AQAB', kid: 'rsa', alg: 'RS256', use: 'sig' },
      ],
    });
    expect((await app.get('/api/auth/jwks.json')).status).toBe(404);
    // A bad token has no effect on a public path.
    expect((await app.get('/.well-known/jwks.json', { token: 'x' })).status).toBe(200);
  });

  it.each(ALL)('the first key, here $alg, signs, and another service verifies by the key set', async (key) => {
    const jwtKeys = [key, ...ALL.filter((each) => each !== key)];
    const named = { issuer: 'https://shop.example', audience: 'shop' };
    const other = await startAuth(platform, { auth: { jwtKeys, ...named } });
    const email = uniqueEmail();
    const { token, user } = await other.register({ email });
    expect(headerOf(token)).toEqual({ alg: key.alg, typ: 'JWT', kid: key.kid });
    const { iat = 0 } = claimsOf(token);
    const keySet = createLocalJWKSet((await other.get('/.well-known/jwks.json')).json as JSONWebKeySet);
    const { payload } = await jwtVerify(token, keySet, named);
    const expected = { sub: String(user['id']), email, roles: ['USER'], iat, exp: iat + 86_400 };
    expect(payload).toEqual({ ...expected, iss: 'https://shop.example', aud: 'shop' });
    expect(await statusOf(other, token)).toBe(200);
    expect(await statusOf(other, by(key))).toBe(401);
    expect(await statusOf(other, by(key, claims({ iss: 'https://shop.example', aud: ['a', 'shop'] })))).toBe(200);
    expect(await statusOf(other, by(key, claims({ iss: 'https://shop.example', aud: 'a' })))).toBe(401);
    await other.close();
  });

  it.each(ALL)('each key verifies: $alg', async (key) => {
    for (const payload of [claims(), claims({ nbf: seconds() }), claims({ tenant: 'x' })])
      expect(await statusOf(app, by(key, payload))).toBe(200);
  });

  it('HS256 tokens of the secret stay valid beside keys, and without the secret they are not', async () => {
    expect(await statusOf(app, makeToken())).toBe(200);
    const keysOnly = await startAuth(platform, { auth: { jwtKeys: ALL, jwtSecret: undefined } });
    const { token } = await keysOnly.register({ email: uniqueEmail() });
    expect([await statusOf(keysOnly, token), await statusOf(keysOnly, makeToken())]).toEqual([200, 401]);
    expect(keysOnly.logs.join('\n')).not.toContain('jwtSecret');
    await keysOnly.close();
  });

  it.each(FORGED)('a token with %s is 401', async (_, token) => {
    expect(await statusOf(app, token())).toBe(401);
  });

  it('a key is replaced without logging anybody out, also from refresh tokens', async () => {
    const database = await createDatabase();
    const auth = { sessions: true, jwtSecret: undefined };
    const start = (jwtKeys: readonly JwtKey[]) =>
      startAuth(platform, { auth: { ...auth, jwtKeys }, dataSource: database.options as never });
    const [before, next, after] = [await start([EdDSA]), await start([ES256, EdDSA]), await start([ES256])];
    const email = uniqueEmail();
    const old = (await before.register({ email })) as unknown as { token: string; refreshToken: string };
    expect(await statusOf(next, old.token)).toBe(200);
    const refreshed = await next.post('/api/auth/refresh', { refreshToken: old.refreshToken });
    expect([refreshed.status, headerOf(refreshed.json.data.token)]).toEqual([
      200,
      { alg: 'ES256', typ: 'JWT', kid: 'ec' },
    ]);
    expect(await statusOf(after, refreshed.json.data.token)).toBe(200);
    expect(await statusOf(after, old.token)).toBe(401);
    const again = { refreshToken: refreshed.json.data.refreshToken };
    expect((await after.post('/api/auth/refresh', again)).status).toBe(200);
    expect((await after.post('/api/auth/refresh', { refreshToken: old.refreshToken })).status).toBe(401);
    for (const each of [before, next, after]) await each.close();
    await database.drop();
  });

  it('the key set is public below a rule for everything, and at the root despite a global prefix', async () => {
    @Injectable()
    class Closed extends SecurityConfig {
      configure() {
        this.requireRole('ADMIN', '/**');
      }
    }
    const other = await startAuth(platform, {
      auth: { jwtKeys: [EdDSA], authBasePath: '/auth' },
      providers: [Closed],
      configure: (main) => void main.setGlobalPrefix('api', { exclude: ['.well-known/jwks.json'] }),
    });
    expect((await other.get('/.well-known/jwks.json')).json.keys).toHaveLength(1);
    expect((await other.post('/api/auth/login', { email: uniqueEmail(), password: PASSWORD })).status).toBe(401);
    await other.close();
  });

  it('without keys there is no key set', async () => {
    const other = await startAuth(platform);
    expect((await other.get('/.well-known/jwks.json')).status).toBe(404);
    expect((await other.post('/api/auth/login', { email: uniqueEmail(), password: PASSWORD })).status).toBe(401);
    await other.close();
  });
});

describe('at startup', () => {
  const rsa = (modulusLength: number): string => pem(generateKeyPairSync('rsa', { modulusLength }).privateKey);
  const ec = (namedCurve: string): string => pem(generateKeyPairSync('ec', { namedCurve }).privateKey);
  const encrypted = (): string =>
    generateKeyPairSync('ed25519')
      .privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
      .toString();

  it.each<[string, () => unknown, string]>([
    [
      'a key instead of an array',
      () => EdDSA,
      '`jwtKeys` must be an array of at least one key, got a value of type object.',
    ],
    ['no key at all', () => [], '`jwtKeys` must be an array of at least one key, got an empty array.'],
    ['a text instead of an array', () => EdDSA.privateKey, 'got a value of type string.'],
    [
      'a text',
      () => [EdDSA.privateKey],
      '`jwtKeys[0]` must be an object with kid, alg and privateKey, got a value of type',
    ],
    ['an unknown member', () => [{ ...EdDSA, use: 'sig' }], '"use"'],
    ['no kid', () => [{ ...EdDSA, kid: undefined }], '`jwtKeys[0].kid` must be a non-empty string, got undefined.'],
    ['a blank kid', () => [{ ...EdDSA, kid: ' ' }], '`jwtKeys[0].kid` must be a non-empty string, got " ".'],
    ['another algorithm', () => [{ ...EdDSA, alg: 'HS256' }], '.alg` must be EdDSA, ES256 or RS256, got "HS256".'],
    ['no key', () => [{ kid: 'a', alg: 'EdDSA' }], '.privateKey` must be a private key in PEM, got undefined.'],
    [
      'a duplicate kid',
      () => [EdDSA, ES256, { ...RS256, kid: 'ed' }],
      'must be keys of different `kid`, got "ed" twice.',
    ],
    [
      'a weak RSA key',
      () => [{ ...RS256, privateKey: rsa(1024) }],
      '`jwtKeys[0].privateKey` must be an RSA key of at least 2048 bits in PEM, for RS256, got a key of type rsa of 1024 bits.',
    ],
    ['text', () => [{ ...EdDSA, privateKey: 'secret words' }], 'got text that is no private key.'],
    [
      'a key without line breaks',
      () => [{ ...EdDSA, privateKey: EdDSA.privateKey.replaceAll('\n', '') }],
      'no private key.',
    ],
    [
      'a public key',
      () => [EdDSA, { ...ES256, privateKey: publicPem(ES256.privateKey) }],
      '`jwtKeys[1].privateKey` must be an EC key with the curve P-256 in PEM, for ES256, got a public key.',
    ],
    ['an encrypted key', () => [{ ...EdDSA, privateKey: encrypted() }], 'got an encrypted key.'],
    ['a key of another type', () => [{ ...EdDSA, alg: 'RS256' }], 'for RS256, got a key of type ed25519.'],
    [
      'a key of another curve',
      () => [{ ...ES256, privateKey: ec('P-384') }],
      'for ES256, got a key of type ec secp384r1.',
    ],
  ])('refuses %s by a sentence without the key', async (_, jwtKeys, part) => {
    const { error } = await bootAuth('express', { auth: { jwtKeys: jwtKeys() } as Partial<AuthOptions> });
    expect(error).toBeInstanceOf(InvalidOptionError);
    const { message } = error as Error;
    expect(message).toContain(part);
    expect(message).toMatch(/^AuthModule option [^\n]+ must be [^\n]+, got [^\n]+\. [A-Z][^\n]+\.$/);
    expect(message).not.toMatch(/BEGIN|secret words|MC4CAQAw/);
  });

  it('production needs no secret beside keys', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    const auth = { jwtSecret: undefined, sessions: true };
    expect((await bootAuth('express', { auth: { ...auth, jwtKeys: [EdDSA] } })).error).toBeUndefined();
    expect(String((await bootAuth('express', { auth })).error)).toContain('jwtSecret');
    vi.unstubAllEnvs();
  });
});
