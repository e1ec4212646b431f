import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import { Authenticator, type Identified } from '../../../lib/access/identity/authenticator.js';
import { AccountCredentials } from '../../../lib/auth/plugins/account-credentials.js';
import { checkOwnClaims, readClaims } from '../../../lib/auth/tokens/claims.js';
import { AccessTokens as Tokens, type TokenKey } from '../../../lib/auth/tokens/access-tokens.js';
import type { AuthUser } from '../../../lib/auth/users/auth-user.js';
import type { ResolvedAuthOptions } from '../../../lib/auth/options/resolve-options.js';
import { DatabaseUnavailable } from '../../../lib/entities/database-errors.js';
import type { HttpRequest } from '../../../lib/http/http-request.js';
import {
  authenticationOf,
  CallerRoles,
  setAuthentication,
  type Authentication,
  type Principal,
} from '../../../lib/http/caller.js';
import { claims, makeToken, TEST_SECRET } from '../../harness/tokens.js';

const options = (jwtExpirationHours: number, jwtSecret = TEST_SECRET): ResolvedAuthOptions =>
  ({ jwtSecrets: [jwtSecret], jwtExpirationHours, parseId: Number }) as unknown as ResolvedAuthOptions;

const tokens = (jwtExpirationHours = 24): Tokens => new Tokens(options(jwtExpirationHours));
const ANN = { sub: '1', email: 'ann@example.com', roles: ['USER'] };
const parts = (token: string): Record<string, unknown>[] =>
  token
    .split('.')
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>);
const seconds = (): number => Math.floor(Date.now() / 1000);
/** The claims, without the time of the signature. */
const verified = (by: Tokens, token: string): unknown => {
  const { issuedAt: _, ...found } = by.verify(token) ?? {};
  return 'sub' in found ? found : undefined;
};

describe('tokens that are signed', () => {
  it.each<[hours: number, seconds: number]>([
    [24, 86_400],
    [1, 3600],
    [0.5, 1800],
    [0.0005, 2],
    [0.0004, 1],
    [0.000_001, 1],
  ])('[2.5] hold the claims and no more, for %d hours', (hours, valid) => {
    const token = tokens(hours).sign({ ...ANN, password: 'x' } as typeof ANN);
    const [header, payload] = parts(token);
    expect(header).toEqual({ alg: 'HS256', typ: 'JWT' });
    expect(payload).toEqual({ ...ANN, iat: expect.any(Number) as number, exp: (payload?.['iat'] as number) + valid });
    expect(verified(tokens(), token)).toEqual(ANN);
  });
});

describe('tokens that are verified', () => {
  it.each<[what: string, token: () => string]>([
    ['a valid one', () => makeToken()],
    ['with further claims', () => makeToken({ payload: claims({ aud: 'shop', nbf: seconds() - 5 }) })],
    ['without iat', () => makeToken({ payload: claims({ iat: undefined }) })],
    ['with a critical word among the claims', () => makeToken({ payload: claims({ crit: ['x'] }) })],
  ])('[2.5] %s is accepted', (_, token) => {
    expect(verified(tokens(), token())).toEqual(ANN);
  });

  it.each<[what: string, token: () => string]>([
    ['no token', () => ''],
    ['one part', () => 'a'],
    ['a letter in front', () => `x${makeToken()}`],
    ['two parts', () => makeToken().split('.').slice(0, 2).join('.')],
    ['a part more', () => `${makeToken()}.e30`],
    ['a part in front', () => `e30.${makeToken()}`],
    ['a line break behind', () => `${makeToken()}\n`],
    ['a letter more in the signature', () => `${makeToken()}A`],
    ['a letter less in the signature', () => makeToken().slice(0, -1)],
    ['a signature of the right length', () => makeToken({ signature: 'A'.repeat(43) })],
    ['no header', () => makeToken({ header: '' })],
    ['no payload', () => makeToken({ payload: '' })],
    ['a header of null', () => makeToken({ header: 'null' })],
    ['a header that is text', () => makeToken({ header: '"alg"' })],
    ['a header without alg', () => makeToken({ header: { typ: 'JWT' } })],
    ['a header that begins with a space', () => makeToken({ header: ' {"alg":"HS256","typ":"JWT"}' })],
    ['a header that is no JSON', () => makeToken({ header: 'alg' })],
    ['alg in lower case', () => makeToken({ header: { alg: 'hs256' } })],
    ['alg none over the right signature', () => makeToken({ header: { alg: 'none' } })],
    ['nbf as a text', () => makeToken({ payload: claims({ nbf: '1' }) })],
    ['nbf of null', () => makeToken({ payload: claims({ nbf: null }) })],
    ['exp now', () => makeToken({ payload: claims({ exp: seconds() }) })],
    ['another secret', () => makeToken({ secret: `${TEST_SECRET}!` })],
    ['no signature', () => makeToken({ signature: '' })],
    ['alg none', () => makeToken({ alg: 'none' })],
    ['HS384', () => makeToken({ alg: 'HS384' })],
    ['HS512', () => makeToken({ alg: 'HS512' })],
    ['an extension that is not understood', () => makeToken({ header: { alg: 'HS256', crit: ['b64'], b64: false } })],
    ['an empty list of extensions', () => makeToken({ header: { alg: 'HS256', crit: [] } })],
    ['expired', () => makeToken({ payload: claims({ exp: seconds() - 1 }) })],
    ['not yet valid', () => makeToken({ payload: claims({ nbf: seconds() + 60 }) })],
    ['without exp', () => makeToken({ payload: claims({ exp: undefined }) })],
    ['a text that holds the claims', () => makeToken({ payload: JSON.stringify(JSON.stringify(claims())) })],
    ['no JSON', () => makeToken({ payload: 'claims' })],
    ['no claims', () => makeToken({ payload: 'null' })],
  ])('[2.5] %s is none', (_, token) => {
    expect(tokens().verify(token())).toBeUndefined();
  });

  it('[2.9] a token says when it was signed, unless its iat is no number', () => {
    const issuedAt = (iat: unknown) => tokens().verify(makeToken({ payload: claims({ iat }) }))?.issuedAt;
    expect([1_900_000_000, undefined, '1900000000', null].map(issuedAt)).toEqual([
      1_900_000_000,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('[2.5] a token is valid from its nbf until its exp, to the second', () => {
    const nbf = 1_900_000_000;
    const token = makeToken({ payload: claims({ nbf, exp: nbf + 10 }) });
    const at = (milliseconds: number): unknown => {
      const clock = vi.spyOn(Date, 'now').mockReturnValue(milliseconds);
      const found = verified(tokens(), token);
      clock.mockRestore();
      return found;
    };
    const times = [nbf * 1000 - 1, nbf * 1000, nbf * 1000 + 9_999, nbf * 1000 + 10_000, nbf * 1000 - 1, nbf * 1000];
    expect(times.map(at)).toEqual([undefined, ANN, ANN, undefined, undefined, ANN]);
  });
});

describe('the options of tokens', () => {
  const OTHER_SECRET = `${TEST_SECRET}-of-before`;
  const tokensWith = (more: object): Tokens => new Tokens({ ...options(24), ...more });
  const ann = { id: 1, email: 'ann@example.com', role: 'USER' } as AuthUser;
  const claimsOf = (token: string): Record<string, unknown> => parts(token)[1]!;

  it('[2.5] the first secret signs, and each of them verifies', () => {
    const [both, old, current] = [[TEST_SECRET, OTHER_SECRET], [OTHER_SECRET], [TEST_SECRET]].map((jwtSecrets) =>
      tokensWith({ jwtSecrets }),
    );
    expect(verified(both!, old!.sign(ANN))).toEqual(ANN);
    expect(verified(current!, both!.sign(ANN))).toEqual(ANN);
    expect(old!.verify(both!.sign(ANN))).toBeUndefined();
  });

  it('[2.5] a key signs before the secrets, with the terms and the claims that there are', () => {
    const given: unknown[] = [];
    const sign = (payload: object): string => `signed ${given.push(payload)}`;
    const verify = (token: string): unknown => (token === 'signed 1' ? claims() : undefined);
    const key: TokenKey = {
      secret: Buffer.alloc(0),
      signerOf: (named) => (given.push(named), { sign, verify }),
    };
    const both = tokensWith({ tokenKeys: [key], issuer: 'shop' });
    expect(given.splice(0)).toStrictEqual([{ issuer: 'shop' }]);
    expect(both.sign(ANN)).toBe('signed 1');
    const [{ iat, exp, ...signed }] = given as [Record<string, unknown>];
    expect([signed, Number(exp) - Number(iat)]).toEqual([{ ...ANN, iss: 'shop' }, 86_400]);
    expect(verified(both, 'signed 1')).toEqual(ANN);
    expect(verified(both, tokensWith({ issuer: 'shop' }).sign(ANN))).toEqual(ANN);
  });

  it.each(['issuer', 'audience'])('[2.5] a key is told the %s, where only that is set', (option) => {
    const given: unknown[] = [];
    const signerOf: TokenKey['signerOf'] = (named) => (given.push(named), { sign: String, verify: () => undefined });
    tokensWith({ tokenKeys: [{ secret: Buffer.alloc(0), signerOf }], [option]: 'shop' });
    expect(given).toStrictEqual([{ [option]: 'shop' }]);
  });

  it('[2.5] the time of a token is in seconds', () => {
    const clock = vi.spyOn(Date, 'now').mockReturnValue(1_900_000_000_999);
    const token = tokens(1).sign(ANN);
    clock.mockRestore();
    expect(claimsOf(token)).toMatchObject({ iat: 1_900_000_000, exp: 1_900_003_600 });
  });

  it('[2.5] a token with `crit` is none, whichever secret has signed it', () => {
    const both = tokensWith({ jwtSecrets: [TEST_SECRET, OTHER_SECRET] });
    const header = { alg: 'HS256', crit: ['b64'] };
    for (const secret of [TEST_SECRET, OTHER_SECRET])
      expect(both.verify(makeToken({ header, secret }))).toBeUndefined();
  });

  it('[2.5] `accessTokenSeconds` replaces the hours', () => {
    const { iat, exp } = claimsOf(tokensWith({ accessTokenSeconds: 60 }).sign(ANN)) as { iat: number; exp: number };
    expect(exp - iat).toBe(60);
  });

  it.each([
    ['issuer', 'iss', 'shop'],
    ['audience', 'aud', 'app'],
  ])('[2.5] with `%s`, tokens have it in %s, and others are none', (option, claim, value) => {
    const named = tokensWith({ [option]: value });
    expect(claimsOf(named.sign(ANN))[claim]).toBe(value);
    expect(verified(named, named.sign(ANN))).toEqual(ANN);
    expect(named.verify(tokens().sign(ANN))).toBeUndefined();
    expect(named.verify(tokensWith({ [option]: 'other' }).sign(ANN))).toBeUndefined();
    expect(claimsOf(tokens().sign(ANN))).not.toHaveProperty(claim);
  });

  it('[2.5] a token of a user has the session and the claims of the option', async () => {
    const own = tokensWith({ claims: async ({ id }: AuthUser) => ({ tenant: `t${String(id)}` }) });
    const added = await own.ownClaimsOf(ann);
    expect(added).toEqual({ tenant: 't1' });
    const token = own.signFor(ann, added, 'session');
    expect(claimsOf(token)).toEqual({
      ...ANN,
      tenant: 't1',
      sid: 'session',
      iat: expect.anything(),
      exp: expect.anything(),
    });
    expect(verified(own, token)).toEqual({ ...ANN, sid: 'session', own: { tenant: 't1' } });
    expect(verified(tokens(), token)).toEqual({ ...ANN, sid: 'session' });
  });

  it('[2.5] a token of a user without them has neither', async () => {
    expect(await tokens().ownClaimsOf(ann)).toBeUndefined();
    const token = tokens().signFor({ ...ann, email: null } as AuthUser, undefined, undefined);
    expect(Object.keys(claimsOf(token))).toEqual(['sub', 'email', 'roles', 'iat', 'exp']);
    expect(claimsOf(token)).toMatchObject({ sub: '1', email: '', roles: ['USER'] });
  });

  it('[2.5] claims that the option must not return are refused', async () => {
    await expect(tokensWith({ claims: () => ({ sub: 'x' }) }).ownClaimsOf(ann)).rejects.toThrow('reserved names');
  });
});

describe('the claims of a token', () => {
  const exp = 4_000_000_000;

  it.each<[what: string, payload: unknown, email: string]>([
    ['all of them', { ...ANN, exp }, ANN.email],
    ['an empty e-mail', { ...ANN, exp, email: '' }, ''],
    ['no e-mail', { ...ANN, exp, email: undefined }, ''],
    ['an e-mail that is no text', { ...ANN, exp, email: 7 }, ''],
  ])('[2.5] %s are taken', (_, payload, email) => {
    expect(readClaims(payload)).toEqual({ ...ANN, email });
  });

  it('[2.5] how and when the user has logged in are taken together', () => {
    const login = { amr: ['pwd', 'otp'], auth_time: 5 };
    expect(readClaims({ ...ANN, exp, ...login })).toEqual({ ...ANN, login });
    for (const wrong of [
      { amr: login.amr },
      { auth_time: 5 },
      { amr: 'pwd', auth_time: 5 },
      { ...login, auth_time: '5' },
    ])
      expect(readClaims({ ...ANN, exp, ...wrong })).toEqual(ANN);
  });

  it('[2.5] a user may have no role', () => {
    expect(readClaims({ ...ANN, exp, roles: [] })?.roles).toEqual([]);
  });

  it.each<[what: string, payload: unknown]>([
    ['null', null],
    ['undefined', undefined],
    ['a text', 'claims'],
    ['a function', Object.assign(() => undefined, { ...ANN, exp })],
    ['an array', []],
    ['exp as a text', { ...ANN, exp: String(exp) }],
    ['exp that never comes', { ...ANN, exp: Number.POSITIVE_INFINITY }],
    ['exp that is no number', { ...ANN, exp: Number.NaN }],
    ['no sub', { ...ANN, exp, sub: undefined }],
    ['a sub that is a number', { ...ANN, exp, sub: 1 }],
    ['an empty sub', { ...ANN, exp, sub: '' }],
    ['no roles', { ...ANN, exp, roles: undefined }],
    ['roles as a text', { ...ANN, exp, roles: 'ADMIN' }],
    ['a role that is no text', { ...ANN, exp, roles: ['USER', 7] }],
    ['roles in an object', { ...ANN, exp, roles: { every: () => true } }],
  ])('[2.5] %s are none', (_, payload) => {
    expect(readClaims(payload)).toBeUndefined();
  });
});

describe('the claims of the option', () => {
  const JSON_OBJECT = 'AuthModule option `claims` must return an object without `toJSON`.';
  const ofBytes = (bytes: number): object => ({ x: 'y'.repeat(bytes - 8) });
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;

  it('[2.5] are what JSON holds of them', () => {
    expect(checkOwnClaims({ tenant: 't', at: new Date(0), none: undefined })).toEqual({
      tenant: 't',
      at: '1970-01-01T00:00:00.000Z',
    });
    expect(checkOwnClaims(ofBytes(4_096))).toEqual(ofBytes(4_096));
  });

  it.each<[claims: unknown, message: string]>([
    [undefined, JSON_OBJECT],
    [null, JSON_OBJECT],
    ['tenant', JSON_OBJECT],
    [() => undefined, JSON_OBJECT],
    [['tenant'], JSON_OBJECT],
    [{ toJSON: () => ({}) }, JSON_OBJECT],
    [ofBytes(4_097), 'AuthModule option `claims` must return at most 4096 bytes of JSON, got 4097.'],
    [
      { sub: '2', roles: [] },
      'AuthModule option `claims` must not return the reserved names sub, email, roles, sid, iat, exp, nbf, iss, aud, jti, id, amr, auth_time, got sub, roles.',
    ],
    [
      { n: 1n },
      'AuthModule option `claims` must return values that JSON can hold, got TypeError: Do not know how to serialize a BigInt.',
    ],
    [
      cyclic,
      'AuthModule option `claims` must return values that JSON can hold, got TypeError: Converting circular structure to JSON.',
    ],
  ])('[2.5] are refused: %o', (claims_, message) => {
    expect(() => checkOwnClaims(claims_)).toThrow(new Error(message));
  });

  it('[2.5] count only where the option is set', () => {
    const payload = { ...claims({ tenant: 't', jti: 'x', sid: 5 }), iat: undefined };
    expect(readClaims(payload)).toEqual(ANN);
    expect(readClaims(payload, true)).toEqual({ ...ANN, own: { tenant: 't' } });
  });
});

describe('the bearer of a token', () => {
  const request = (...values: string[]): HttpRequest => ({
    method: 'GET',
    headers: {},
    rawHeaders: values.flatMap((value) => ['Authorization', value]),
  });
  /** Verifies nothing: a token is taken for who it names. */
  const naming = { verify: (token: string) => ({ sub: '7', email: token, roles: ['A'] }) } as unknown as Tokens;
  const authenticate = (tokens: Tokens, ...values: string[]) =>
    new Authenticator(
      new AccountCredentials(tokens, {} as never, options(1), { readers: [] } as never, {} as never),
    ).find(request(...values));

  it.each<[header: string, token: string]>([
    ['Bearer abc', 'abc'],
    ['bearer abc', 'abc'],
    ['BEARER   abc  ', 'abc'],
    ['Bearer aZ09._~+/-==', 'aZ09._~+/-=='],
  ])('[2.5] %j holds a token', (header, token) => {
    expect(authenticate(naming, header)).toEqual({
      bearerWasSent: true,
      principal: { id: 7, email: token, roles: ['A'] },
    });
  });

  it.each([
    'Bearer',
    'Bearer ',
    'Bearer  ',
    'Bearer a b',
    'Bearer a,b',
    'Bearer "a"',
    'Bearer =',
    'Bearer a=b',
    'Bearer a b c',
  ])('[2.5] %j is a bearer without a token', (header) => {
    expect(authenticate(naming, header)).toEqual({ bearerWasSent: true });
  });

  it.each(['', 'Basic YTpi', 'Bearerabc', 'Bearer\tabc', ' Bearer abc', 'Basic Bearer abc', 'abc'])(
    '[2.5] %j is no bearer',
    (header) => {
      expect(authenticate(naming, header)).toEqual({ bearerWasSent: false });
    },
  );

  it('[2.5] no header is none', () => {
    expect(authenticate(naming)).toEqual({ bearerWasSent: false });
  });

  it.each([[['Bearer a', 'Bearer b']], [['Bearer a', 'Basic b']], [['Basic b', 'Bearer a']]])(
    '[2.5] two credentials are none: %j',
    (headers) => {
      expect(authenticate(naming, ...headers)).toEqual({ bearerWasSent: true });
    },
  );

  it('[2.5] a token that is not valid is none', () => {
    const unsigned = makeToken({ alg: 'none' });
    expect(authenticate(tokens(), `Bearer ${unsigned}`)).toEqual({ bearerWasSent: true, token: unsigned });
    expect(authenticate(tokens(), `Bearer ${makeToken()}`)).toMatchObject({
      principal: { id: 1, email: ANN.email, roles: ANN.roles },
    });
  });
});

describe('the caller of a request, with plugins', () => {
  const request = { method: 'GET', headers: {} } as HttpRequest;
  const bearer: Authentication = { bearerWasSent: true, principal: { id: 1, email: '', roles: ['USER'] } };
  const anonymous: Authentication = { bearerWasSent: false };
  const caller = (principal: Partial<Principal>): Authentication =>
    ({ bearerWasSent: false, principal: { id: '7', email: 'key', roles: ['USER'], ...principal } }) as Authentication;
  const failure: Authentication = { bearerWasSent: false, failure: new DatabaseUnavailable() };

  const ANN_EDITOR = { active: true, role: 'EDITOR', email: 'ann@example.com' };

  /** @param found what each plugin finds */
  function credentials(
    found: Authentication[] = [],
    user: object | null = ANN_EDITOR,
    roles: object = { expand: (names: string[]) => names.flatMap((name) => [name, `${name}_HELPER`]) },
  ): AccountCredentials {
    const users = { findById: async (id: string) => (id === '7' || id === '1' ? user : null) };
    const plugins = { readers: found.map((each) => ({ read: async () => each })) };
    const application = { stateOf: (state: unknown) => (state === CallerRoles ? roles : undefined) };
    const parts = [tokens(), users, options(1), plugins, application] as const;
    return new AccountCredentials(...(parts as unknown as ConstructorParameters<typeof AccountCredentials>));
  }

  /** @param known what the token says */
  async function confirm(known: Authentication, ...parts: Parameters<typeof credentials>) {
    const all = credentials(...parts);
    all.readers[0] = { read: () => known };
    return new Authenticator(all).find(request);
  }

  it('[2.5] is that of the token where no plugin looks', async () => {
    expect(await confirm(bearer)).toBe(bearer);
  });

  it.each<[what: string, found: Authentication[], expected: unknown]>([
    ['a plugin that agrees changes nothing', [caller({ roles: ['ADMIN'] })], bearer],
    ['each plugin must agree', [caller({}), anonymous], { bearerWasSent: true }],
    ['a failure is told', [caller({}), failure], failure],
  ])('[2.5] beside a token, %s', async (_, found, expected) => {
    expect(await confirm(bearer, found)).toEqual(expected);
  });

  it('[2.5] without a token, is the first that a plugin finds, with no role that the user does not have', async () => {
    const found = [
      anonymous,
      caller({ roles: ['ADMIN', 'EDITOR_HELPER', 'EDITOR', 'USER', 'OTHER'] }),
      caller({ id: 8 }),
    ];
    expect(await confirm(anonymous, found)).toEqual({
      bearerWasSent: false,
      isKey: false,
      principal: { id: 7, email: 'ann@example.com', roles: ['EDITOR_HELPER', 'EDITOR', 'USER'] },
    });
  });

  it('[2.5] has the role of the user where no hierarchy is known', async () => {
    const found = [caller({ roles: ['ADMIN', 'EDITOR', 'USER'] })];
    const confirmed = await confirm(anonymous, found, ANN_EDITOR, {});
    expect(confirmed.principal?.roles).toEqual(['EDITOR', 'USER']);
  });

  it('[2.5] is not known while the users cannot be read', async () => {
    const error = vi.spyOn(Logger.prototype, 'error').mockReturnValue();
    const user = {
      get active(): boolean {
        throw new Error('no connection');
      },
    };
    const { failure, ...others } = await credentials([], user).reload(bearer);
    expect([failure?.getStatus(), others]).toEqual([503, { bearerWasSent: true }]);
    expect(error.mock.calls.map(([line]) => line as unknown)).toEqual(['The user of a token could not be read.']);
    error.mockRestore();
  });

  it.each([
    ['nobody finds one', [anonymous], undefined],
    ['the user is unknown', [caller({ id: 9 })], undefined],
    ['the user is not active', [caller({})], { active: false, role: 'EDITOR' }],
  ])('[2.5] is nobody where %s', async (_, found, user) => {
    expect(await confirm(anonymous, found, user)).toEqual(anonymous);
  });

  const foreign: Authentication = { bearerWasSent: true, token: 'foreign' };
  const known = (more: Partial<Authentication> = {}): Authentication => ({
    ...caller({}),
    bearerWasSent: true,
    ...more,
  });

  it('[2.5] is the one whom a plugin knows by a foreign token, with the present address', async () => {
    expect(await confirm(foreign, [anonymous, known()])).toEqual({
      ...foreign,
      isKey: false,
      principal: { id: 7, email: 'ann@example.com', roles: ['USER'] },
      whole: [{ id: 7, email: 'ann@example.com', roles: ['EDITOR'] }],
    });
    const nameless = { ...ANN_EDITOR, email: null };
    const { principal } = await confirm(foreign, [known()], nameless);
    expect(principal?.email).toBe('');
  });

  it('[2.5] has the role of keys by a key', async () => {
    const { isKey, principal, whole } = await confirm(foreign, [known({ isKey: true })]);
    expect([isKey, principal?.roles, whole?.[0].roles]).toEqual([true, ['USER', 'KEY'], ['EDITOR', 'KEY']]);
  });

  it('[2.5] is nobody by another credential beside a token, and by a header without one', async () => {
    expect(await confirm(foreign, [caller({})])).toEqual(foreign);
    const malformed: Authentication = { bearerWasSent: true };
    expect(await confirm(malformed, [known()])).toEqual(malformed);
  });

  it('[2.5] is read from the users: role and activity', async () => {
    expect(await credentials().reload(anonymous)).toBe(anonymous);
    expect((await credentials().reload(bearer)).principal?.roles).toEqual(['EDITOR']);
    for (const user of [null, { active: false, role: 'EDITOR' }])
      expect(await credentials([], user).reload(bearer)).toEqual({ bearerWasSent: true });
  });

  it('[2.5] is the one whom a reader in front knows completely', async () => {
    const complete = { ...bearer, isComplete: true };
    const all = credentials([anonymous], null);
    all.readers.unshift({ read: () => complete });
    const asked: Parameters<typeof setAuthentication>[0] = { ...request };
    const authenticator = new Authenticator(all);
    expect(authenticator.find(asked)).toBe(complete);
    setAuthentication(asked, complete);
    await authenticator.reloadUser(asked);
    expect(authenticationOf(asked)).toBe(complete);
    setAuthentication(asked, bearer);
    await authenticator.reloadUser(asked);
    expect(authenticationOf(asked)).toEqual({ bearerWasSent: true });
  });

  it('[2.5] is the one whom a reader in front knows, whatever the token says', () => {
    const token = makeToken();
    const read = (known: Identified) => credentials().readToken(request, known);
    expect(read({ bearerWasSent: true, token })?.principal).toMatchObject({ id: 1 });
    expect(read({ bearerWasSent: true, token, principal: { id: 9, email: '', roles: ['USER'] } })).toBeUndefined();
  });

  it('[2.5] has the session of its token', () => {
    const headers = { authorization: `Bearer ${makeToken({ payload: claims({ sid: 's' }) })}` };
    expect(new Authenticator(credentials()).find({ ...request, headers })).toMatchObject({ session: 's' });
    const without = { authorization: `Bearer ${makeToken()}` };
    expect(new Authenticator(credentials()).find({ ...request, headers: without })).not.toHaveProperty('session');
    expect(new Authenticator(credentials()).find({ ...request, headers: without })).not.toHaveProperty('login');
    const login = { amr: ['pwd'], auth_time: 5 };
    const withLogin = { authorization: `Bearer ${makeToken({ payload: claims(login) })}` };
    expect(new Authenticator(credentials()).find({ ...request, headers: withLogin })).toMatchObject({ login });
  });
});
