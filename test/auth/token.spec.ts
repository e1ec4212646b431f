import { createHmac, generateKeyPairSync, sign as signWith } from 'node:crypto';
import { Controller, Get } from '@nestjs/common';
import { request } from '../harness/client.js';
import { PLATFORMS } from '../harness/platforms.js';
import { rawTarget } from '../harness/raw-socket.js';
import { PASSWORD, type Shop, startShop } from '../harness/shop.js';
import { claims, makeToken, TEST_SECRET } from '../harness/tokens.js';
import { startAuth } from './auth-app.js';
import { refusal } from '../harness/refusal.js';

/** A route of the application under `requireAuth('/api/**')`. */
@Controller('api/own')
class OwnController {
  @Get()
  own() {
    return { seen: true };
  }
}

/** A route of the package, one of the application, and a generated one. */
const PROTECTED = ['/api/auth/me', '/api/own', '/api/categories'];

const BARE = 'Bearer';
const INVALID = 'Bearer error="invalid_token"';
const REFUSED = JSON.stringify(refusal('Authentication required'));

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const b64 = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const unsigned = (header: object, payload: unknown = claims()): string => `${b64(header)}.${b64(payload)}`;
const hmac = (input: string, key: string | Buffer): string =>
  createHmac('sha256', key).update(input).digest('base64url');
/** This header, and a signature that would be right for HS256. */
const withHeader = (header: unknown): string => makeToken({ header });
const withClaims = (changed: Record<string, unknown>): string => makeToken({ payload: claims(changed) });
const withPayload = (payload: unknown): string => makeToken({ payload });
const seconds = (): number => Math.floor(Date.now() / 1000);
const parts = (): [string, string, string] => makeToken().split('.') as [string, string, string];

/** The last of 43 letters holds four bits of the signature and two unused ones. */
function sameBytesOtherLetters(token: string): string {
  const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return token.slice(0, -1) + ALPHABET[ALPHABET.indexOf(token.at(-1) ?? '') ^ 1];
}

/** Signed by the sender with RS256. */
function signedByRsa(header: object): string {
  const input = unsigned({ alg: 'RS256', ...header });
  return `${input}.${signWith('sha256', Buffer.from(input), privateKey).toString('base64url')}`;
}

const FORGED: [string, () => string][] = [
  ...['none', 'nOnE'].flatMap((alg): [string, () => string][] => [
    [`alg ${alg} and no signature`, () => `${unsigned({ alg, typ: 'JWT' })}.`],
    [`alg ${alg} without the last dot`, () => unsigned({ alg, typ: 'JWT' })],
    [`alg ${alg} and the right HMAC`, () => withHeader({ alg, typ: 'JWT' })],
  ]),
  ['no signature', () => `${parts()[0]}.${parts()[1]}.`],
  ['HS384 with the same secret', () => makeToken({ alg: 'HS384' })],
  ['alg in lower case', () => withHeader({ alg: 'hs256', typ: 'JWT' })],
  ['no alg', () => withHeader({ typ: 'JWT' })],
  ...['RS256', 'PS256', 'ES256', 'EdDSA'].map((alg): [string, () => string] => [
    `alg ${alg} over an HMAC with the secret`,
    () => withHeader({ alg, typ: 'JWT' }),
  ]),
  ['RS256 with a key of the sender', () => signedByRsa({ typ: 'JWT' })],
  ['RS256 with a key in the header (jwk)', () => signedByRsa({ jwk: publicKey.export({ format: 'jwk' }) })],
  [
    'HS256 with a secret in the header (jwk)',
    () => {
      const input = unsigned({ alg: 'HS256', jwk: { kty: 'oct', k: b64('mine') } });
      return `${input}.${hmac(input, 'mine')}`;
    },
  ],
  [
    'a kid that names an empty file, signed with an empty key',
    () => {
      const input = unsigned({ alg: 'HS256', kid: '../../../../dev/null' });
      return `${input}.${hmac(input, '')}`;
    },
  ],
  ['another secret', () => makeToken({ secret: 'another-secret-of-more-than-32-bytes-9876543210' })],
  ['an empty secret', () => makeToken({ secret: '' })],
  ['the secret with a line break', () => makeToken({ secret: `${TEST_SECRET}\n` })],
  ['a critical extension', () => withHeader({ alg: 'HS256', crit: ['exp'], exp: 1 })],
  ['the critical extension b64', () => withHeader({ alg: 'HS256', typ: 'JWT', crit: ['b64'], b64: false })],
  ['an empty list of critical extensions', () => withHeader({ alg: 'HS256', typ: 'JWT', crit: [] })],
  ['an array as header', () => withHeader([])],
  ['text as header', () => withHeader('"HS256"')],
  ['an empty header', () => withHeader('')],

  ['no exp', () => withClaims({ exp: undefined })],
  ['exp as text', () => withClaims({ exp: String(seconds() + 3600) })],
  ['an infinite exp', () => withPayload(JSON.stringify(claims()).replace(/"exp":\d+/, '"exp":1e999'))],
  ['exp one second ago', () => withClaims({ exp: seconds() - 1 })],
  ['nbf in the future', () => withClaims({ nbf: seconds() + 60 })],
  ['nbf as text', () => withClaims({ nbf: String(seconds() - 60) })],
  ['roles as text', () => withClaims({ roles: 'ADMIN' })],
  ['a number in roles', () => withClaims({ roles: ['USER', 5] })],
  ['roles as an object', () => withClaims({ roles: { 0: 'ADMIN', length: 1 } })],
  ['no roles', () => withClaims({ roles: undefined })],
  ['an empty sub', () => withClaims({ sub: '' })],
  ['a number as sub', () => withClaims({ sub: 1 })],
  ['claims as a string of JSON', () => withPayload(JSON.stringify(JSON.stringify(claims())))],
  ['a payload of text', () => withPayload('hello')],
  ['claims cut in the middle', () => withPayload('{"sub":"1","roles":["USER"],"exp":99999999999')],

  ['another role under the old signature', () => `${parts()[0]}.${b64(claims({ roles: ['ADMIN'] }))}.${parts()[2]}`],
  ['its last letter cut off', () => makeToken().slice(0, -1)],
  ['its last letter changed to one of the same bytes', () => sameBytesOtherLetters(makeToken())],
  ['padding at the end', () => `${makeToken()}=`],
  ['a dot at the end', () => `${makeToken()}.`],
  ['a fourth part', () => `${makeToken()}.e30`],
  ['a space inside', () => makeToken().replace('.', ' .')],
  ['a second token after a comma', () => `${makeToken()}, ${makeToken()}`],
  ['a parameter after it', () => `${makeToken()} realm="x"`],
  ['Bearer twice', () => `Bearer ${makeToken()}`],
  ['text that is not a token', () => 'undefined'],
  ['8,000 letters', () => 'A'.repeat(8_000)],
];

describe.each(PLATFORMS)('on %s', (platform) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(platform, { controllers: [OwnController] });
    // The tokens below are for this user, whose id is 1.
    await shop.register('ann@example.com');
  });
  afterAll(() => shop.close());
  const send = (path: string, headers: Record<string, string>) => request(shop.url, 'GET', path, { headers });
  const statuses = async (authorization: string): Promise<number[]> =>
    (await Promise.all(PROTECTED.map((path) => send(path, { authorization })))).map(({ status }) => status);
  const expectRefused = async (path: string, headers: Record<string, string>, challenge: unknown): Promise<void> => {
    const answer = await send(path, headers);
    const { status, text, headers: received } = answer;
    expect([path, status, text, received['www-authenticate']]).toEqual([path, 401, REFUSED, challenge]);
  };
  const decode = (token: string) => {
    const [header = '', payload = '', signature = ''] = token.split('.');
    const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return { header: read(header), payload: read(payload), signature, signed: `${header}.${payload}` };
  };

  it.each(['register', 'login'])('[2.5] the token of %s is an HS256 JWT with exactly the five claims', async (how) => {
    const before = seconds();
    const email = `${how}@example.com`;
    const json = { email, password: PASSWORD };
    const registered = await request(shop.url, 'POST', '/api/auth/register', { json });
    const answer = how === 'register' ? registered : await request(shop.url, 'POST', '/api/auth/login', { json });
    const { user, token } = answer.json.data;
    const { header, payload, signature, signed } = decode(token);
    expect(header).toEqual({ alg: 'HS256', typ: 'JWT' });
    expect(signature).toBe(hmac(signed, TEST_SECRET));
    const iat = expect.any(Number);
    expect(payload).toEqual({ sub: String(user.id), email, roles: ['USER'], iat, exp: payload.iat + 24 * 3600 });
    expect([payload.iat >= before, payload.iat <= seconds()]).toEqual([true, true]);
    expect(await statuses(`Bearer ${token}`)).toEqual([200, 200, 200]);
  });

  it('[2.5] roles contains the role of the user', async () => {
    expect(decode(await shop.admin('root@example.com')).payload.roles).toEqual(['ADMIN']);
  });

  it('[2.5] email is "" for a user without one, and the lifetime follows jwtExpirationHours', async () => {
    const app = await startAuth(platform, { auth: { loginMethod: 'USERNAME', jwtExpirationHours: 0.5 } });
    const { token } = await app.register({ username: 'ann' });
    const { payload } = decode(token);
    expect([payload.email, payload.exp - payload.iat]).toEqual(['', 1800]);
    expect((await app.get('/api/auth/me', { token })).status).toBe(200);
    await app.close();
  });

  it.each([
    ['with the claims of the contract', () => makeToken()],
    ['without typ', () => withHeader({ alg: 'HS256' })],
    ['with nbf in the past', () => withClaims({ nbf: seconds() - 60 })],
    ['with several roles', () => withClaims({ roles: ['USER', 'ADMIN'] })],
    ['with an unknown claim', () => withClaims({ tenant: 'x' })],
  ])('[2.5] a token %s is valid', async (_, token) => {
    expect(await statuses(`Bearer ${token()}`)).toEqual([200, 200, 200]);
  });

  it.each(['bearer', 'BEARER', 'bEaReR'])('[2.5] the scheme may be written as %s', async (scheme) => {
    expect(await statuses(`${scheme} ${makeToken()}`)).toEqual([200, 200, 200]);
  });

  it.each(FORGED)('[2.5] a token with %s is 401 with the exact body', async (_, token) => {
    await expectRefused('/api/own', { authorization: `Bearer ${token()}` }, INVALID);
  });

  it('[2.5] every kind of route refuses an invalid token', async () => {
    for (const path of PROTECTED) {
      await expectRefused(path, { authorization: `Bearer ${makeToken({ alg: 'none' })}` }, INVALID);
      await expectRefused(path, {}, BARE);
    }
  });

  it.each<[string, Record<string, string>, unknown]>([
    ['an empty Authorization header', { authorization: '' }, BARE],
    ['a token without the scheme', { authorization: makeToken() }, BARE],
    ['a scheme that begins with Bearer', { authorization: `BearerX ${makeToken()}` }, BARE],
    ['Basic', { authorization: `Basic ${b64(`ann@example.com:${PASSWORD}`)}` }, BARE],
    ['no space after the scheme', { authorization: `Bearer${makeToken()}` }, BARE],
    ['a tab after the scheme', { authorization: `Bearer\t${makeToken()}` }, expect.stringMatching(/^Bearer\b/)],
    ['Bearer alone', { authorization: 'Bearer' }, expect.stringMatching(/^Bearer\b/)],
    ['a token in Proxy-Authorization', { 'proxy-authorization': `Bearer ${makeToken()}` }, BARE],
    ['a token in a cookie', { cookie: `token=${makeToken()}; access_token=${makeToken()}` }, BARE],
  ])('[2.5] %s is 401 with the exact body', async (_, headers, challenge) => {
    await expectRefused('/api/own', headers, challenge);
  });

  it('[2.5] a token in the query is ignored', async () => {
    for (const name of ['access_token', 'token']) await expectRefused(`/api/own?${name}=${makeToken()}`, {}, BARE);
  });

  it.each<[string, () => [string, string]]>([
    ['two valid ones', () => [`Bearer ${makeToken()}`, `Bearer ${makeToken()}`]],
    ['a valid and an invalid one', () => [`Bearer ${makeToken()}`, 'Bearer x']],
    ['an invalid and a valid one', () => ['Bearer x', `Bearer ${makeToken()}`]],
    ['Basic and a valid one', () => ['Basic YTpi', `Bearer ${makeToken()}`]],
  ])('[2.5] two Authorization headers, %s, are refused', async (_, values) => {
    for (const name of ['Authorization', 'authorization']) {
      const [first, second] = values();
      const headers = [`Authorization: ${first}`, `${name}: ${second}`];
      const answer = await rawTarget(shop.port, '/api/own', { method: 'GET', headers });
      expect([answer.status, answer.body, answer.headers['www-authenticate']]).toEqual([401, REFUSED, INVALID]);
    }
  });

  it('[2.5] a token is valid from the second of its nbf until the second of its exp, without leeway', async () => {
    const nbf = seconds() + 600;
    const exp = nbf + 10;
    const authorization = `Bearer ${withClaims({ nbf, exp })}`;
    const at = async (milliseconds: number): Promise<number> => {
      const clock = vi.spyOn(Date, 'now').mockReturnValue(milliseconds);
      try {
        return (await send('/api/own', { authorization })).status;
      } finally {
        clock.mockRestore();
      }
    };
    const times = [nbf * 1000 - 1, nbf * 1000, exp * 1000 - 1, exp * 1000, exp * 1000 + 1, nbf * 1000];
    const answers: number[] = [];
    for (const time of times) answers.push(await at(time));
    expect(answers).toEqual([401, 200, 200, 401, 401, 200]);
  });

  it.each(['admin', ' ADMIN', 'ADMINISTRATOR', 'USER,ADMIN', '*', ''])(
    '[2.5] roles compare exactly: %j is not ADMIN',
    async (role) => {
      const answer = await request(shop.url, 'GET', '/api/admin/stats', { token: withClaims({ roles: [role] }) });
      expect([answer.status, answer.text]).toEqual([403, JSON.stringify(refusal('Admin access required'))]);
    },
  );

  it('[2.5] ADMIN among other roles passes a rule for ADMIN', async () => {
    const token = withClaims({ roles: ['SUPPORT', 'ADMIN'] });
    expect((await request(shop.url, 'GET', '/api/admin/stats', { token })).status).toBe(200);
  });

  it.each(['abc', '999999', '-1', '1.5', "1' OR '1'='1", ' 1', '0x1', '01', '9'.repeat(40), '\0'])(
    '[2.4] a token whose sub %j is the id of no user is 401 at me',
    async (sub) => {
      await expectRefused('/api/auth/me', { authorization: `Bearer ${withClaims({ sub })}` }, INVALID);
    },
  );
});
