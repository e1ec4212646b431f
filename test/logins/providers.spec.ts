/** GitHub, providers that are away or wrong, clocks, and the options of `oidc`. */
import { createServer, type RequestListener } from 'node:http';
import { AuthEvents, AuthUser, InvalidOptionError, mailedLinks, UserAccounts } from 'declarest';
import { ExternalIdentity, type ExternalUserFields, oidc } from 'declarest-logins/oidc';
import type { OidcOptions, OidcProvider } from 'declarest-logins/oidc';
import { ForbiddenException } from '@nestjs/common';
import { Column, DataSource, Entity } from 'typeorm';
import { AUTH, bootAuth, expectFailure, PASSWORD, unique } from '../auth/auth-app.js';
import { ONE_PLATFORM } from '../harness/platforms.js';
import { payloadOf } from './authenticator-app.js';
import { startGithub } from './github-server.js';
import { CLIENT, listen, startProvider, stop } from './identity-provider.js';
import { BASE, type OidcApp, startOidc } from './oidc-app.js';

const URI = 'https://shop.example/login/main';
const AWAY = 'The login provider is not available, try again later';

const main = (issuer: string, more: Partial<OidcProvider> = {}): OidcOptions => ({
  providers: { main: { issuer, ...CLIENT, redirectUris: [URI], ...more } },
});

const begin = (app: OidcApp) => app.post(`${BASE}/oidc/main`, {});
const expectAway = (answer: Awaited<ReturnType<OidcApp['finish']>>): void => {
  expect(expectFailure(answer, 503)).toBe(AWAY);
  expect(answer.headers['retry-after']).toBe('10');
};

it('a provider whose discovery never ends is 503 within 5 seconds', async () => {
  const server = createServer((_request, response) => void response.writeHead(200).write('{'));
  onTestFinished(() => stop(server));
  const app = await startOidc('express', main(`http://127.0.0.1:${await listen(server)}`));
  const begun = Date.now();
  // One request waits for the answer to the other.
  const answers = await Promise.all([begin(app), begin(app)]);
  answers.forEach(expectAway);
  expect(Date.now() - begun).toBeLessThan(6_500);
  await app.close();
});

describe.each(ONE_PLATFORM)('on %s', (platform) => {
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    await Promise.all(closing.splice(0).map((close) => close()));
  });
  const opened = <T extends { close: () => Promise<unknown> }>(resource: T): T => {
    closing.push(() => resource.close());
    return resource;
  };
  const provide = async (more = {}) => opened(await startProvider([URI], more));
  const start = async (...given: Parameters<typeof startOidc> extends [unknown, ...infer R] ? R : never) =>
    opened(await startOidc(platform, ...given));
  const answering = async (handler: RequestListener): Promise<string> => {
    const server = createServer(handler);
    closing.push(() => stop(server));
    return `http://127.0.0.1:${await listen(server)}`;
  };
  const person = { email: 'ann@shop.example', email_verified: true };

  describe('GitHub', () => {
    const email = (address: string, more: object) => ({ email: address, primary: false, verified: false, ...more });

    it('logs in by the id of its user and the primary address', async () => {
      const github = opened(await startGithub());
      const app = await start(main(github.issuer, { type: 'github', verifiedClaim: 'two_factor_authentication' }));
      const own = [
        email('other@shop.example', { verified: true }),
        email('Ann@shop.example', { verified: true, primary: true }),
      ];
      github.users.set('ann', { id: 583_231, emails: own });
      const { url } = await app.begin();
      const { scope, nonce } = Object.fromEntries(new URL(url).searchParams);
      expect([scope, nonce]).toEqual(['read:user user:email', undefined]);
      const answer = await app.logIn('ann');
      expect([answer.status, answer.json.data.user.email]).toEqual([200, 'ann@shop.example']);
      const rows = await app.app.get(DataSource).getRepository(ExternalIdentity).find();
      expect(rows).toEqual([expect.objectContaining({ issuer: github.issuer, subject: '583231' })]);
      // Names are given away again at GitHub, and ids are not.
      github.users.set('renamed', { id: 583_231, emails: [] });
      expect((await app.logIn('renamed')).json.data.user.id).toBe(answer.json.data.user.id);
      github.users.set('eve', { id: 7, emails: [email('ann@shop.example', { primary: true, verified: 'true' })] });
      expectFailure(await app.logIn('eve'), 409);
      const [victim, thief] = [await app.respond('ann'), await app.respond('eve')];
      const code = new URL(victim.url).searchParams.get('code')!;
      expectFailure(await app.finish({ ...thief, url: thief.url.replace(/code=[^&]*/, `code=${code}`) }), 401);
      const replaced = (await app.respond('ann')).url.replace(/iss=[^&]*/, 'iss=https%3A%2F%2Fevil.example');
      expectFailure(await app.finish({ ...(await app.begin()), url: replaced }), 401);
    });

    it('gets no code of a provider that sends no issuer: it has arrived at another address', async () => {
      const github = opened(await startGithub());
      const app = await start(main(github.issuer, { type: 'github' }));
      for (const address of ['https://shop.example/login/other', `${URI}/`, 'https://evil.example/login/main']) {
        const { url, verifier } = await app.begin();
        const response = new URLSearchParams({ code: 'of-another', state: new URL(url).searchParams.get('state')! });
        expectFailure(await app.finish({ url: `${address}?${response}`, verifier }), 401);
        expectFailure(await app.finish({ url: `${URI}?${response}#x`, verifier }), 401);
      }
      expect(github.exchanges).toBe(0);
    });

    it.each<[string, unknown, unknown]>([
      ['no id', undefined, []],
      ['an id that is text', '7', []],
      ['an id of many digits', 2 ** 60, []],
    ])('a user with %s is 503', async (_, id, emails) => {
      const github = opened(await startGithub());
      const app = await start(main(github.issuer, { type: 'github' }));
      github.users.set('ann', { id, emails });
      expectAway(await app.logIn('ann'));
      expectAway(await app.logIn('nobody'));
    });

    it.each([[{}], [[null, 5, 'x']], [[{ primary: true, verified: true, email: 5 }]]])(
      'a user with the addresses %o has none',
      async (emails) => {
        const github = opened(await startGithub());
        const app = await start(main(github.issuer, { type: 'github' }));
        github.users.set('ann', { id: 7, emails });
        expectFailure(await app.logIn('ann'), 409);
      },
    );
  });

  describe('a provider that is away', () => {
    it('stops neither the start nor other logins, and is found when it is back', async () => {
      const { port, close } = await startProvider([URI]);
      await close();
      const app = await start(main(`http://127.0.0.1:${port}`));
      for (let tries = 0; tries < 3; tries += 1) expectAway(await begin(app));
      expect(app.logs.filter((line) => line.includes('are answered with 503'))).toEqual([
        expect.stringMatching(/^warn .*Logins at the provider main are answered with 503: .*ECONNREFUSED/),
      ]);
      const { token } = await app.register({ email: 'ben@shop.example' });
      expect((await app.post(`${BASE}/login`, { email: 'ben@shop.example', password: PASSWORD })).status).toBe(200);
      expect(await app.identities(token)).toEqual([]);
      const provider = await provide({ port });
      provider.accounts.set('ann', person);
      expect((await app.logIn('ann')).status).toBe(200);
    });

    it.each<[string, RequestListener]>([
      ['is not a document', (_request, response) => response.end('<html>')],
      ['is of another issuer', (_request, response) => void sendJson(response, { issuer: 'https://evil.example' })],
      [
        'is too large',
        ({ headers: { host } }, response) => {
          const issuer = `http://${host}`;
          sendJson(response, { issuer, authorization_endpoint: `${issuer}/auth`, x: 'x'.repeat(2_000_000) });
        },
      ],
      [
        'is a redirect',
        (_request, response) => void response.writeHead(302, { location: 'https://evil.example' }).end(),
      ],
      ['is an error', (_request, response) => void response.writeHead(500).end()],
    ])('whose discovery %s is 503 within 5 seconds', async (_, handler) => {
      const app = await start(main(await answering(handler)));
      const begun = Date.now();
      // One request waits for the answer to the other.
      const [first, second] = await Promise.all([begin(app), begin(app)]);
      expectAway(first);
      expectAway(second);
      expect(Date.now() - begun).toBeLessThan(6_500);
    });

    it.each([
      ['POST /token', 500],
      ['POST /token', 429],
      ['GET /jwks', 500],
      ['GET /me', 503],
    ])('at %s is 503', async (line, status) => {
      const provider = await provide();
      provider.accounts.set('ann', person);
      const app = await start(main(provider.issuer));
      const response = await app.respond('ann');
      provider.instead = ({ method, url }, sent) =>
        `${method} ${url}` === line && Boolean(sent.writeHead(status).end());
      expectAway(await app.finish(response));
      provider.instead = undefined;
      expect((await app.logIn('ann')).status).toBe(200);
    });

    it('is one that refuses the client, which the log says without the secret', async () => {
      const provider = await provide();
      const app = await start(main(provider.issuer, { clientSecret: 'a wrong secret' }));
      expectAway(await app.logIn('ann'));
      expect(app.logs.join('\n')).toContain('the provider main are answered with 503: it answered invalid_client');
      expect(app.logs.join('\n')).not.toContain('secret');
    });
  });

  it.each([
    [-30, 200],
    [30, 200],
    [-60, 401],
  ])('a clock that is %i seconds off at the provider leads to %i', async (seconds, status) => {
    // A token that is valid for 15 seconds has expired, where the clock is behind.
    const provider = await provide({ ttl: { IdToken: 15 } });
    provider.accounts.set('ann', person);
    const app = await start(main(provider.issuer));
    const response = await app.respond('ann');
    provider.clockOffset = seconds * 1000;
    expect((await app.finish(response)).status).toBe(status);
  });

  it('a client that the provider knows by `Authorization: Basic` is sent so', async () => {
    const provider = await provide({
      clients: [{ client_id: CLIENT.clientId, client_secret: CLIENT.clientSecret, redirect_uris: [URI] }],
      clientAuthMethods: ['client_secret_basic'],
    });
    provider.accounts.set('ann', person);
    expect((await (await start(main(provider.issuer))).logIn('ann')).status).toBe(200);
  });

  it('an address counts as verified by the claim that the option names', async () => {
    const provider = await provide({
      conformIdTokenClaims: false,
      claims: { email: ['email', 'xms_edov', 'email_verified'] },
    });
    const app = await start(main(provider.issuer, { verifiedClaim: 'xms_edov' }));
    provider.accounts.set('ann', { email: 'ann@shop.example', xms_edov: true });
    provider.accounts.set('ben', { email: 'ben@shop.example', email_verified: true });
    expect((await app.logIn('ann')).status).toBe(200);
    expectFailure(await app.logIn('ben'), 409);
  });

  it('an address and its verification come from one answer of the provider', async () => {
    const provider = await provide({ conformIdTokenClaims: false });
    const app = await start(main(provider.issuer));
    provider.accounts.set('ann', { ...person, inIdToken: { email: undefined, email_verified: false } });
    provider.accounts.set('eve', {
      email: 'eve@shop.example',
      email_verified: false,
      inIdToken: { email: undefined, email_verified: true },
    });
    provider.accounts.set('ben', { email: 'ben@shop.example', inIdToken: { email: undefined, email_verified: true } });
    expect((await app.logIn('ann')).status).toBe(200);
    for (const subject of ['eve', 'ben']) expectFailure(await app.logIn(subject), 409);
  });

  it.each(['x'.repeat(256), 'é'])('the subject %s is none', async (subject) => {
    const provider = await provide();
    provider.accounts.set(subject, person);
    expectFailure(await (await start(main(provider.issuer))).logIn(subject), 401);
  });

  describe('the option `update`', () => {
    const update: NonNullable<OidcOptions['update']> = ({ claims: { preferred_username: group } }, { role }) => {
      if (group === 'gone') throw new ForbiddenException('Employees only');
      if (group === 'wrong') return { email: 'eve@shop.example' } as never;
      return { role: group === 'sales' ? 'STAFF' : 'CUSTOMER', lastName: `was ${role}` };
    };

    it('changes the user at each later login, before its tokens', async () => {
      const provider = await provide();
      const app = await start({ ...main(provider.issuer), update }, { auth: { registrationRole: 'CUSTOMER' } });
      const changed: unknown[] = [];
      app.app.get(AuthEvents, { strict: false }).on('user.changed', ({ fields }) => void changed.push(fields));
      const logIn = async (group: string) => {
        provider.accounts.set('ann', { ...person, preferred_username: group });
        return app.logIn('ann');
      };
      // The first login is a registration, which has its own function.
      expect((await logIn('sales')).json.data.user).toMatchObject({ role: 'CUSTOMER', lastName: null });
      const { user, token } = (await logIn('sales')).json.data;
      expect([user.role, payloadOf(token).roles]).toEqual(['STAFF', ['STAFF']]);
      expect(await app.row({ id: user.id })).toMatchObject({ role: 'STAFF', lastName: 'was CUSTOMER' });
      expect((await logIn('sales')).json.data.user.role).toBe('STAFF');
      expect((await logIn('sales')).json.data.user.role).toBe('STAFF');
      // The last one has changed nothing.
      expect(changed).toEqual([['role', 'lastName'], ['lastName']]);
      expect((await logIn('none')).json.data.user.role).toBe('CUSTOMER');
      expect(expectFailure(await logIn('gone'), 403)).toBe('Employees only');
      expect(expectFailure(await logIn('wrong'))).toMatch(/^email: not accepted here/);
      expect(await app.row({ id: user.id })).toMatchObject({ role: 'CUSTOMER', email: person.email });
    });

    it('takes the role of no last ADMIN, and asks for nobody who is inactive', async () => {
      const provider = await provide();
      const asked = vi.fn(update);
      const app = await start({ ...main(provider.issuer), update: asked });
      const accounts = app.app.get(UserAccounts, { strict: false });
      provider.accounts.set('ann', person);
      const { id } = (await app.logIn('ann')).json.data.user;
      await accounts.setRole(id, 'ADMIN');
      expect(expectFailure(await app.logIn('ann'), 409)).toContain('This is the last active user with the role ADMIN');
      const [other] = await Promise.all(
        ['ben', 'cid'].map((name) =>
          accounts.create({ email: `${name}@shop.example`, password: PASSWORD, role: 'ADMIN' }),
        ),
      );
      expect((await app.logIn('ann')).json.data.user.role).toBe('CUSTOMER');
      // Who is found by the verified address is changed too.
      provider.accounts.set('ben', { ...person, email: 'ben@shop.example' });
      expect((await app.logIn('ben')).json.data.user).toMatchObject({ id: other?.id, role: 'CUSTOMER' });
      await accounts.setActive(id, false);
      asked.mockClear();
      expectFailure(await app.logIn('ann'), 401);
      expect(asked).not.toHaveBeenCalled();
    });
  });

  describe('the option `register`', () => {
    @Entity('member_of_shop')
    class Member extends AuthUser {
      @Column({ type: 'varchar', length: 20 })
      plan!: string;
    }
    const auth = { userClass: Member, registrationFields: ['plan'] };

    it.each([
      [{ register: false }, {}],
      [{}, { registration: false }],
    ])('%o with %o creates nobody', async (options, more) => {
      const provider = await provide();
      provider.accounts.set('ann', person);
      const app = await start({ ...main(provider.issuer), ...options }, { auth: more });
      expectFailure(await app.logIn('ann'), 409);
      expect(await app.users().count()).toBe(0);
    });

    it('as a function gives further fields, and may refuse', async () => {
      const provider = await provide();
      const given = vi.fn<(subject: string) => ExternalUserFields>();
      const register = ({ subject }: { subject: string }) => given(subject);
      const app = await start({ ...main(provider.issuer), register }, { auth });
      const logIn = async (fields: object) => {
        const subject = unique('sub');
        provider.accounts.set(subject, { ...person, email: `${subject}@shop.example` });
        given.mockImplementation(() => fields as ExternalUserFields);
        return app.logIn(subject);
      };
      const { json } = await logIn({ plan: 'gold', role: 'EDITOR', firstName: 'Ann' });
      expect(json.data.user).toMatchObject({ role: 'EDITOR', firstName: 'Ann' });
      expect(await app.row({ id: json.data.user.id })).toMatchObject({ plan: 'gold' });
      expect(expectFailure(await logIn({}))).toBe('plan: required');
      for (const fields of [{ email: 'eve@shop.example' }, { password: PASSWORD }, { id: 7 }])
        expect(expectFailure(await logIn({ plan: 'gold', ...fields }))).toMatch(
          /^(email|password|id): not accepted here/,
        );
      provider.accounts.set('eve', person);
      given.mockImplementation(() => {
        throw new ForbiddenException('Employees only');
      });
      expect(expectFailure(await app.logIn('eve'), 403)).toBe('Employees only');
      expect(await app.users().count()).toBe(1);
    });

    it('an unverified address is left out where users log in by a name', async () => {
      const provider = await provide();
      provider.accounts.set('ann', { email: 'ann@shop.example', preferred_username: 'ann' });
      const register: OidcOptions['register'] = ({ claims }) => ({ username: String(claims['preferred_username']) });
      const app = await start({ ...main(provider.issuer), register }, { auth: { loginMethod: 'USERNAME' } });
      expect((await app.logIn('ann')).json.data.user).toMatchObject({ username: 'ann', email: null });
    });

    it('an address that the provider has verified needs no mail', async () => {
      const provider = await provide();
      provider.accounts.set('ann', person);
      const app = await start(main(provider.issuer), { plugins: [mailedLinks({ required: true })] });
      expect((await app.logIn('ann')).json.data).toMatchObject({ token: /./ });
      expect((await app.logIn('ann')).status).toBe(200);
      expect(app.logs.filter((line) => line.includes('kind verify'))).toEqual([]);
    });

    it('no password hasher sees what stands in place of a hash', async () => {
      const provider = await provide();
      provider.accounts.set('ann', person);
      const passwordHasher = {
        hash: (password: string) => Promise.resolve(`own ${password}`),
        verify: (password: string, hash: string) =>
          hash.startsWith('own ') ? Promise.resolve(hash === `own ${password}`) : Promise.reject(new Error('no hash')),
        needsRehash: () => false,
      };
      const app = await start(main(provider.issuer), { auth: { passwordHasher } });
      expect((await app.logIn('ann')).status).toBe(200);
      expectFailure(await app.post(`${BASE}/login`, { email: person.email, password: PASSWORD }), 401);
    });

    it.each([
      [{}, auth, 'plan', 'none'],
      [{ register: true }, { loginMethod: 'USERNAME' } as const, 'username', 'true'],
    ])('%o without a field that users must have stops the start', async (options, more, field, got) => {
      const { error } = await bootAuth(platform, {
        auth: { ...AUTH, ...more, plugins: [oidc({ ...main('https://a.example'), ...options })] },
      });
      expect((error as Error).message).toBe(
        `oidc option \`register\` must be a function that returns ${field}, which new users must have, got ${got}. ` +
          'Set it, or set `register` to false.',
      );
    });
  });
});

describe('wrong options', () => {
  const secret = 'never printed';
  const valid = { issuer: 'https://a.example', clientId: 'shop', clientSecret: secret, redirectUris: [URI] };
  const provider = (more: object) => ({ providers: { main: { ...valid, ...more } } });

  it.each<[string, object, RegExp]>([
    ['no provider', { providers: {} }, /^oidc option `providers` must be an object of providers by name/],
    ['a name of a path', { providers: { 'a/b': valid } }, /option `providers` .* names have letters/],
    [
      'an unknown option',
      { providers: { main: valid }, x: 1 },
      /The options of oidc must be .* providers, register, update, got "x"/,
    ],
    ['an unknown option of a provider', provider({ scope: 'x' }), /option `providers.main` must be .* got "scope"/],
    [
      'no issuer',
      provider({ issuer: undefined }),
      /option `providers.main.issuer` must be an address with https.*got none/,
    ],
    ['an issuer without https', provider({ issuer: 'http://a.example' }), /option `providers.main.issuer` must be/],
    ['an issuer with a query', provider({ issuer: 'https://a.example/?x' }), /option `providers.main.issuer` must be/],
    ['another type', provider({ type: 'saml' }), /option `providers.main.type` must be "oidc" or "github", got "saml"/],
    ['no client id', provider({ clientId: '' }), /option `providers.main.clientId` must be .*got an empty string/],
    ['no secret', provider({ clientSecret: undefined }), /option `providers.main.clientSecret` must be .*got none/],
    [
      'a secret that is no text',
      provider({ clientSecret: 1234 }),
      /clientSecret` must be .*got a value of type number/,
    ],
    [
      'no redirect URI',
      provider({ redirectUris: [] }),
      /option `providers.main.redirectUris` must be .*got an array of 0/,
    ],
    ...[
      'http://shop.example/x',
      `${URI}#x`,
      `${URI}?x`,
      'https://u@shop.example/x',
      'https://shop.example/a/../b',
      '/x',
      'javascript:x',
      'data:x',
      'shop:/x',
    ].map((uri): [string, object, RegExp] => [
      `the redirect URI ${uri}`,
      provider({ redirectUris: [uri] }),
      /redirectUris` must be addresses in their normal form .* got "/,
    ]),
    ...[
      ['https://shop.example', 'https://shop.example/'],
      ['https://SHOP.example/x', 'https://shop.example/x'],
    ].map(([uri = '', normal = '']): [string, object, RegExp] => [
      `the redirect URI ${uri}`,
      provider({ redirectUris: [uri] }),
      new RegExp(`got "${uri}". Write "${normal}".$`),
    ]),
    [
      'a shared redirect URI',
      { providers: { a: valid, b: valid } },
      /option `providers` must be providers with different redirectUris/,
    ],
    ['an update that is no function', { ...provider({}), update: {} }, /option `update` must be a function/],
    [
      'a register that is text',
      { ...provider({}), register: 'yes' },
      /option `register` must be true, false, or a function/,
    ],
  ])('%s stops the start', (_, options, message) => {
    const declare = () => oidc(options as OidcOptions);
    expect(declare).toThrow(InvalidOptionError);
    expect(declare).toThrow(message);
    expect(declare).not.toThrow(secret);
  });

  it.each(['com.example.shop:/login', 'http://localhost:4200/login', 'http://127.0.0.1/x', 'https://shop.example/'])(
    'the redirect URI %s is accepted',
    (uri) => {
      expect(oidc(provider({ redirectUris: [uri] })).name).toBe('oidc');
    },
  );
});

const sendJson = (response: Parameters<RequestListener>[1], body: object) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
