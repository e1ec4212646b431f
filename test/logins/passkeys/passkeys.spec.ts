/** Passkeys without a browser: the whole life of a passkey, and what a browser never sends. */
import { AuthEvents, mailedLinks, OneTimeToken } from 'declarest';
import { passkeys } from 'declarest-logins/passkeys';
import type { AuthPlugin } from 'declarest/plugin';
import { addAccess } from 'declarest/openapi';
import { DataSource } from 'typeorm';
import { type AuthApp, expectFailure, PASSWORD, whole } from '../../auth/auth-app.js';
import { Mailbox, mailsTo } from '../../auth/mailbox.js';
import { beforeStatement } from '../../auth/slow-statements.js';
import { ONE_PLATFORM } from '../../harness/platforms.js';
import { DescribedApi, documentOf } from '../../openapi/described.js';
import { accountsOf, ORIGIN, PASSKEYS, Person, rowsOf, startPasskeyApp } from './passkey-app.js';
import { type Forgery, newKey, SoftwareAuthenticator } from './software-authenticator.js';

const NOT_VALID = 'This passkey is not valid, or its challenge was used or has expired';
const UV_MISSING = 0x01;
const UP_MISSING = 0x04;

describe.each(ONE_PLATFORM)('on %s', (platform) => {
  let app: AuthApp;
  beforeAll(async () => {
    app = await startPasskeyApp(platform);
    api = new DescribedApi(addAccess(documentOf(app.app), app.app));
  });
  afterAll(() => app.close());
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });
  let api: DescribedApi;
  const differences: string[] = [];
  const person = (): Person =>
    new Person(app, (method, path, answer) => {
      const operation = api.find(method, path);
      differences.push(...(operation ? api.wrongWith(operation, answer) : [`${method} ${path} is not described`]));
    });
  const challenges = () => app.app.get(DataSource, { strict: false }).getRepository(OneTimeToken);

  it('a user without a password registers, logs in, adds a passkey, renames and removes one', async () => {
    const ann = person();
    const registered = await ann.register({ firstName: 'Ann' });
    expect([registered.status, registered.headers['cache-control']]).toEqual([201, 'no-store']);
    expect(registered.json).toMatchObject({
      success: true,
      data: { user: { email: ann.email, firstName: 'Ann', role: 'USER' }, refreshToken: expect.any(String) },
    });
    // No password has this hash.
    expect((await app.row({ email: ann.email }))['password']).toBe('-');
    expect((await app.post('/api/auth/login', { email: ann.email, password: '-' })).status).toBe(401);
    const [row] = await rowsOf(app);
    expect(row).toMatchObject({ counter: 0, transports: 'hybrid,internal', name: 'Passkey' });
    const login = await ann.logIn();
    expect([login.status, login.json.data.user.email]).toEqual([200, ann.email]);
    ann.token = login.json.data.token;
    expect((await ann.send('GET', 'me')).json.data.user.firstName).toBe('Ann');

    const first = { id: expect.stringMatching(/^[0-9a-f]{64}$/), name: 'Passkey', backedUp: false };
    const times = { createdAt: expect.stringMatching(/Z$/), lastUsedAt: expect.stringMatching(/Z$/) };
    expect(await ann.list()).toEqual([{ ...first, ...times }]);
    const added = await ann.add({ credential: await ann.confirmation() }, { name: 'Phone' });
    expect([added.status, added.json.data.passkey.name]).toEqual([201, 'Phone']);
    const { id } = added.json.data.passkey;
    expect((await ann.send('PATCH', `passkeys/${id}`, { name: 'Old phone' })).json.data.passkey.name).toBe('Old phone');
    expect((await ann.list()).map(({ name }) => name)).toEqual(['Passkey', 'Old phone']);

    // Both know the user by one handle.
    const handles = ann.device.passkeys.map(({ handle }) => handle);
    expect(new Set(handles).size).toBe(1);
    expect((await ann.send('DELETE', `passkeys/${id}`, { credential: await ann.confirmation() })).status).toBe(204);
    expect(await ann.list()).toHaveLength(1);
  });

  it('the options ask for a discoverable credential, user verification and no attestation', async () => {
    const ann = person();
    const { json } = await ann.post('passkeys/register/options', { email: ann.email });
    expect(json.data).toMatchObject({
      rp: { id: 'shop.example' },
      user: { name: ann.email },
      attestation: 'none',
      timeout: 300_000,
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      pubKeyCredParams: [{ alg: -8 }, { alg: -7 }, { alg: -257 }],
    });
    expect(await ann.loginOptions()).toMatchObject({ rpId: 'shop.example', userVerification: 'required' });
    await ann.registerByPassword();
    await ann.add();
    const again = await ann.post('passkeys/options', { password: PASSWORD });
    expect(again.json.data.excludeCredentials).toEqual([
      { id: ann.device.passkeys[0]?.id, type: 'public-key', transports: ['hybrid', 'internal'] },
    ]);
  });

  it.each(['ES256', 'EdDSA', 'RS256'] as const)('a passkey of %s registers and logs in', async (algorithm) => {
    const ann = person();
    ann.device.algorithm = algorithm;
    expect((await ann.register()).status).toBe(201);
    expect((await ann.logIn()).status).toBe(200);
    expect((await ann.logIn({ key: newKey(algorithm) })).status).toBe(401);
  });

  it.each<[string, Forgery]>([
    ['an origin that is not declared', { origin: 'https://evil.example' }],
    ['an origin that begins alike', { origin: `${ORIGIN}.evil.example` }],
    ['http in place of https', { origin: 'http://shop.example' }],
    ['another rpId', { rpId: 'evil.example' }],
    ['a frame of another origin', { crossOrigin: true }],
    ['a frame whose top is another origin', { crossOrigin: true, topOrigin: 'https://evil.example' }],
    ['no user verification', { flags: UV_MISSING }],
    ['no user presence', { flags: UP_MISSING }],
    ['another type', { type: 'webauthn.create' }],
    ['another key', { key: newKey() }],
    ['the handle of another user', { handle: 'AAAA' }],
    ['no handle', { handle: null }],
    ['a challenge of its own', { challenge: Buffer.alloc(32, 1).toString('base64url') }],
    ['a challenge of another form', { challenge: 'x' }],
  ])('a login with %s is the 401 of a wrong signature', async (_, forged) => {
    const ann = person();
    await ann.register();
    expect(expectFailure(await ann.logIn(forged), 401)).toBe('Invalid credentials');
    expect((await ann.logIn()).status).toBe(200);
  });

  it.each<[string, Forgery]>([
    ['an origin that is not declared', { origin: 'https://evil.example' }],
    ['another rpId', { rpId: 'evil.example' }],
    ['a frame of another origin', { crossOrigin: true }],
    ['no user verification', { flags: 0x41 }],
    ['another type', { type: 'webauthn.get' }],
    ['the id of another passkey', { id: Buffer.alloc(32, 7).toString('base64url') }],
    ['a challenge of its own', { challenge: Buffer.alloc(32, 1).toString('base64url') }],
  ])('a registration with %s is 400, and stores neither user nor passkey', async (_, forged) => {
    const ann = person();
    const before = await rowsOf(app);
    expect(expectFailure(await ann.register({}, forged))).toBe(NOT_VALID);
    expect(await rowsOf(app)).toEqual(before);
    expect(await app.users().findOneBy({ email: ann.email })).toBeNull();
  });

  it('the second declared origin counts too', async () => {
    const ann = person();
    await ann.register();
    expect((await ann.logIn({ origin: 'https://admin.shop.example' })).status).toBe(200);
  });

  it('a challenge is used once, also by a login that fails, and for 5 minutes', async () => {
    const ann = person();
    await ann.register();
    const credential = await ann.assertion();
    expect((await ann.post('passkeys/login', { credential })).status).toBe(200);
    expect((await ann.post('passkeys/login', { credential })).status).toBe(401);

    const options = await ann.loginOptions();
    expect((await ann.post('passkeys/login', { credential: ann.device.get(options, { key: newKey() }) })).status).toBe(
      401,
    );
    expect((await ann.post('passkeys/login', { credential: ann.device.get(options) })).status).toBe(401);

    const late = await ann.assertion();
    const [row] = await challenges().find({ order: { expiresAt: 'DESC' }, take: 1 });
    expect(Number(row?.expiresAt) - Date.now()).toBeGreaterThan(290_000);
    expect(Number(row?.expiresAt) - Date.now()).toBeLessThanOrEqual(301_000);
    await challenges().update({ hash: String(row?.hash) }, { expiresAt: Date.now() - 1 });
    expect((await ann.post('passkeys/login', { credential: late })).status).toBe(401);
  });

  it('a challenge counts for its ceremony only', async () => {
    const ann = await person().registerByPassword();
    await ann.add();
    const optionsOf = {
      login: await ann.loginOptions(),
      confirm: (await ann.post('passkeys/confirm/options')).json.data,
      add: (await ann.post('passkeys/options', { password: PASSWORD })).json.data,
      register: (await ann.post('passkeys/register/options', { email: person().email })).json.data,
    };
    const { rpId } = optionsOf.login;
    for (const wrong of ['confirm', 'add', 'register'] as const) {
      const credential = ann.device.get({ challenge: optionsOf[wrong].challenge, rpId });
      expect([wrong, (await ann.post('passkeys/login', { credential })).status]).toEqual([wrong, 401]);
    }
    for (const wrong of ['login', 'add', 'register'] as const) {
      const credential = ann.device.get({ challenge: optionsOf[wrong].challenge, rpId });
      expect([wrong, (await ann.post('passkeys/options', { credential })).status]).toEqual([wrong, 401]);
    }
    for (const wrong of ['login', 'confirm', 'register'] as const) {
      const { challenge } = optionsOf[wrong];
      const credential = new SoftwareAuthenticator(ORIGIN).create({ ...optionsOf.add, challenge });
      expect([wrong, (await ann.post('passkeys', { credential })).status]).toEqual([wrong, 400]);
    }
    for (const wrong of ['login', 'confirm', 'add'] as const) {
      const { challenge } = optionsOf[wrong];
      const credential = new SoftwareAuthenticator(ORIGIN).create({ ...optionsOf.register, challenge });
      const body = { credential, email: person().email };
      expect([wrong, (await ann.post('passkeys/register', body)).status]).toEqual([wrong, 400]);
    }
    // None of them was spent.
    const right = ann.device.get(optionsOf.login);
    expect((await ann.post('passkeys/login', { credential: right })).status).toBe(200);
    expect((await ann.post('passkeys', { credential: ann.device.create(optionsOf.add) })).status).toBe(201);
  });

  it('a challenge to add or confirm counts for its user and its session only', async () => {
    const [ann, eve] = [await person().registerByPassword(), await person().registerByPassword()];
    await ann.add();
    await eve.add();
    const { json } = await ann.post('passkeys/options', { password: PASSWORD });
    const credential = ann.device.create(json.data);
    expect(expectFailure(await eve.post('passkeys', { credential }))).toBe(NOT_VALID);
    const ownToken = ann.token;
    ann.token = (await ann.post('login', { email: ann.email, password: PASSWORD })).json.data.token;
    expect(expectFailure(await ann.post('passkeys', { credential }))).toBe(NOT_VALID);
    const confirmation = await ann.confirmation();
    ann.token = ownToken;
    expect((await ann.post('passkeys/options', { credential: confirmation })).status).toBe(401);
    expect((await ann.post('passkeys', { credential })).status).toBe(201);
    // A passkey of another user confirms nothing, nor does one without a token.
    const options = (await ann.post('passkeys/confirm/options')).json.data;
    const foreign = eve.device.get({ ...options, allowCredentials: [] });
    expect(expectFailure(await ann.post('passkeys/options', { credential: foreign }), 401)).toBe('Invalid credentials');
    ann.token = undefined;
    expect((await ann.post('passkeys', { credential })).status).toBe(401);
  });

  it('a stolen token alone adds and removes no passkey', async () => {
    const ann = await person().registerByPassword();
    await ann.add();
    const [passkey] = await ann.list();
    for (const body of [{}, { password: null }, { password: PASSWORD, credential: {} }])
      expect((await ann.post('passkeys/options', body)).status).toBe(400);
    expect((await ann.send('DELETE', `passkeys/${passkey?.id}`)).status).toBe(400);
    for (const password of ['wrong horse battery', '']) {
      expect((await ann.post('passkeys/options', { password })).status).toBe(401);
      expect((await ann.send('DELETE', `passkeys/${passkey?.id}`, { password })).status).toBe(401);
    }
    expect(await ann.list()).toHaveLength(1);
    expect((await ann.send('DELETE', `passkeys/${passkey?.id}`, { password: PASSWORD })).status).toBe(204);
  });

  it('the last way to log in stays', async () => {
    const ann = person();
    await ann.register();
    const [passkey] = await ann.list();
    const remove = async () => ann.send('DELETE', `passkeys/${passkey?.id}`, { credential: await ann.confirmation() });
    expect(expectFailure(await remove(), 409)).toMatch(/^This is the last way to log in: /);
    const id = await ann.id();
    await accountsOf(app).setPassword(id, PASSWORD);
    ann.token = (await ann.logIn()).json.data.token;
    expect((await remove()).status).toBe(204);
    expect((await ann.post('login', { email: ann.email, password: PASSWORD })).status).toBe(200);
  });

  it('passkeys of other users are 404, and their passkeys stay', async () => {
    const [ann, eve] = [await person().registerByPassword(), await person().registerByPassword()];
    await ann.add();
    const [passkey] = await ann.list();
    expect(await eve.list()).toEqual([]);
    for (const id of [passkey?.id, '1']) {
      const message = `Passkey with id ${id} not found`;
      expect(expectFailure(await eve.send('PATCH', `passkeys/${id}`, { name: 'mine' }), 404)).toBe(message);
      expect(expectFailure(await eve.send('DELETE', `passkeys/${id}`, { password: PASSWORD }), 404)).toBe(message);
    }
    expect((await ann.list()).map(({ name }) => name)).toEqual(['Passkey']);
  });

  it('a counter must rise; a copy of the authenticator is refused', async () => {
    const ann = person();
    ann.device.counter = 10;
    await ann.register();
    expect((await ann.logIn()).status).toBe(200);
    for (const counter of [11, 10, 1, 0]) expect((await ann.logIn({ counter })).status).toBe(401);
    expect((await ann.logIn({ counter: 4_294_967_295 })).status).toBe(200);
    expect((await ann.logIn({ counter: 4_294_967_295 })).status).toBe(401);
  });

  it('an unknown passkey is answered as a wrong signature, after the same statements and a verification', async () => {
    const ann = person();
    await ann.register();
    const runner = app.app.get(DataSource, { strict: false }).createQueryRunner();
    const run = async (forged: Forgery) => {
      const credential = await ann.assertion(forged);
      const query = vi.spyOn(Object.getPrototypeOf(runner) as { query: (sql: string) => unknown }, 'query');
      const verify = vi.spyOn(crypto.subtle, 'verify');
      const answer = await ann.post('passkeys/login', { credential });
      const work = { statements: query.mock.calls.map(([sql]) => sql), verifications: verify.mock.calls.length };
      vi.restoreAllMocks();
      return { answer: whole(answer), ...work };
    };
    const wrong = await run({ key: newKey() });
    const unknown = await run({ id: Buffer.alloc(32, 9).toString('base64url') });
    expect([wrong.statements.length, wrong.verifications]).toEqual([3, 1]);
    expect(unknown).toEqual(wrong);
  });

  it.each<[string, object]>([
    ['no credential', { credential: undefined }],
    ['text', { credential: 'x' }],
    ['another member', { credential: {}, remember: true }],
    ['no member', {}],
    ['an empty credential', { credential: {} }],
  ])('a login with %s is 400', async (_, body) => {
    expectFailure(await person().post('passkeys/login', body));
    expectFailure(await person().post('passkeys/login/options', { remember: true }));
  });

  it('what cannot be a credential is 400 without a query', async () => {
    const ann = person();
    await ann.register();
    const sent = await ann.assertion();
    const runner = app.app.get(DataSource, { strict: false }).createQueryRunner();
    const query = vi.spyOn(Object.getPrototypeOf(runner) as { query: () => unknown }, 'query');
    const { response } = sent;
    const wrong = [
      { ...sent, id: `${sent.id}=`, rawId: `${sent.id}=` },
      { ...sent, id: '', rawId: '' },
      { ...sent, response: { ...response, authenticatorData: 'a b' } },
      { ...sent, rawId: 'AAAA' },
      { ...sent, id: 'A'.repeat(1_368), rawId: 'A'.repeat(1_368) },
      { ...sent, type: 'password' },
      { ...sent, response: 1 },
      { ...sent, response: { ...response, signature: 7 } },
      { ...sent, response: { ...response, signature: 'A'.repeat(20_000) } },
      { ...sent, response: { ...response, userHandle: ['x'] } },
      { ...sent, response: { ...response, clientDataJSON: 'AAAA' } },
      { ...sent, response: { ...response, clientDataJSON: Buffer.from('null').toString('base64url') } },
      { ...sent, response: { ...response, clientDataJSON: Buffer.from('{"challenge":{}}').toString('base64url') } },
    ];
    for (const credential of wrong)
      expect(expectFailure(await ann.post('passkeys/login', { credential }))).toMatch(/^credential: expected /);
    const credential = ann.device.get({ challenge: 'x' });
    expect((await ann.post('passkeys/login', { credential })).status).toBe(401);
    expect(query).not.toHaveBeenCalled();
    query.mockRestore();
    expect((await ann.post('passkeys/login', { credential: { ...sent, added: 'by a browser' } })).status).toBe(200);
  });

  it('malformed CBOR and authenticator data are refused, and never a 500', async () => {
    const ann = person();
    await ann.register();
    const { json } = await ann.post('passkeys/register/options', { email: person().email });
    const { response } = new SoftwareAuthenticator(ORIGIN).create(json.data);
    const intact = Buffer.from(response.attestationObject, 'base64url');
    const broken = [
      Buffer.of(0xff),
      Buffer.from('9b7fffffffffffffff', 'hex'),
      Buffer.alloc(8_000, 0x81),
      Buffer.alloc(8_000, 0xbf),
      intact.subarray(0, 60),
      Buffer.concat([intact, Buffer.of(0)]),
      ...Array.from({ length: 40 }, (_, index) => {
        const changed = Buffer.from(intact);
        changed[(index * 5) % changed.length] = index * 37 + 5;
        return changed;
      }),
    ];
    const statuses = new Set<number>();
    for (const bytes of broken) {
      const email = person().email;
      const options = (await ann.post('passkeys/register/options', { email })).json.data;
      const credential = new SoftwareAuthenticator(ORIGIN).create(options);
      Object.assign(credential.response, { attestationObject: bytes.toString('base64url') });
      statuses.add((await ann.post('passkeys/register', { credential, email })).status);
      const login = await ann.assertion();
      Object.assign(login.response, { authenticatorData: bytes.toString('base64url') });
      statuses.add((await ann.post('passkeys/login', { credential: login })).status);
    }
    expect([...statuses].toSorted()).toEqual([400, 401]);
  });

  it('wrong fields of a registration are named, and the client sets neither role nor password', async () => {
    const ann = person();
    const options = async (body: object) => expectFailure(await ann.post('passkeys/register/options', body));
    expect(await options({})).toBe('email: required');
    expect(await options({ email: 'x', name: 'y' })).toMatch(/email: expected .*; name: not accepted here/);
    await ann.register();
    expect(await options({ email: ann.email })).toBe(`User with email ${ann.email} already exists`);
    const eve = person();
    for (const fields of [{ role: 'ADMIN' }, { password: PASSWORD }, { active: true }, { id: 1 }])
      expect(expectFailure(await eve.register(fields))).toMatch(/^(role|password|active|id): not accepted here/);
    expect(expectFailure(await eve.register({ email: ann.email }))).toBe(`User with email ${ann.email} already exists`);
    expect(await app.users().findOneBy({ email: eve.email })).toBeNull();
  });

  it('a passkey is registered once, and a user has at most 20', async () => {
    const ann = await person().registerByPassword();
    const { json } = await ann.post('passkeys/options', { password: PASSWORD });
    expect((await ann.post('passkeys', { credential: ann.device.create(json.data) })).status).toBe(201);
    const [known] = ann.device.passkeys;
    const eve = await person().registerByPassword();
    const options = (await eve.post('passkeys/options', { password: PASSWORD })).json.data;
    const copied = new CopyingAuthenticator(ORIGIN, String(known?.id)).create(options);
    expect(expectFailure(await eve.post('passkeys', { credential: copied }), 409)).toBe(
      'This passkey is known already',
    );
    const { email } = person();
    const starting = (await eve.post('passkeys/register/options', { email })).json.data;
    const credential = new CopyingAuthenticator(ORIGIN, String(known?.id)).create(starting);
    expect((await eve.post('passkeys/register', { credential, email })).status).toBe(409);
    expect(await app.users().findOneBy({ email })).toBeNull();
    expect((await ann.logIn()).status).toBe(200);
    for (const name of ['', ' x', 'x'.repeat(65), 7]) {
      const next = (await ann.post('passkeys/options', { password: PASSWORD })).json.data;
      expect((await ann.post('passkeys', { credential: ann.device.create(next), name })).status).toBe(400);
    }
    const begun = (await ann.post('passkeys/options', { password: PASSWORD })).json.data;
    for (let count = 1; count < 20; count += 1) expect((await ann.add()).status).toBe(201);
    expect(expectFailure(await ann.post('passkeys/options', { password: PASSWORD }), 409)).toMatch(/20 passkeys/);
    expect((await ann.post('passkeys', { credential: ann.device.create(begun) })).status).toBe(409);
  });

  it('an inactive user neither logs in nor adds a passkey; a deleted one leaves no row', async () => {
    const ann = await person().registerByPassword();
    await ann.add();
    const { json } = await ann.post('passkeys/options', { password: PASSWORD });
    const credential = ann.device.create(json.data);
    const [confirmation, another] = [await ann.confirmation(), await ann.confirmation()];
    const id = await ann.id();
    await accountsOf(app).setActive(id, false);
    expect(expectFailure(await ann.logIn(), 401)).toBe('Invalid credentials');
    expect((await ann.post('passkeys', { credential })).status).toBe(401);
    expect((await ann.post('passkeys/options', { password: PASSWORD })).status).toBe(401);
    expect((await ann.post('passkeys/options', { credential: confirmation })).status).toBe(401);
    const [row] = (await rowsOf(app)).filter(({ userId }) => userId === id);
    const removal = await ann.send('DELETE', `passkeys/${row?.id}`, { credential: another });
    expect(removal.status).toBe(401);
    await accountsOf(app).setActive(id, true);
    // What was begun before has ended, and so has the session.
    expect((await ann.post('passkeys', { credential })).status).toBe(401);
    const again = await ann.logIn();
    expect(again.status).toBe(200);
    ann.token = again.json.data.token;
    expect((await ann.post('passkeys', { credential })).status).toBe(400);
    expect((await ann.send('DELETE', 'me', { password: PASSWORD })).status).toBe(204);
    expect((await rowsOf(app)).filter(({ userId }) => userId === id)).toEqual([]);
    expect((await ann.logIn()).status).toBe(401);
  });

  it('events tell of added and removed passkeys, and of logins that fail', async () => {
    const seen: unknown[] = [];
    const events = app.app.get(AuthEvents, { strict: false });
    const ann = await person().registerByPassword();
    const stop = (['passkey.added', 'passkey.removed', 'login.failed'] as const).map((name) =>
      events.on(name, (event) => void seen.push({ ...event, at: undefined })),
    );
    const { id } = (await ann.add()).json.data.passkey;
    await ann.logIn({ key: newKey() });
    await ann.send('DELETE', `passkeys/${id}`, { password: PASSWORD });
    for (const each of stop) each();
    const userId = await ann.id();
    expect(seen).toEqual([
      { name: 'passkey.added', userId, passkeyId: id },
      { name: 'login.failed', login: ann.device.passkeys[0]?.id, address: expect.any(String) },
      { name: 'passkey.removed', userId, passkeyId: id },
    ]);
  });

  it('all answers before were as the document says, and its example of each body is accepted', () => {
    expect(differences).toEqual([]);
    const own = api.operations.filter(({ path }) => path.includes('/passkeys'));
    expect(own.map(({ method, path }) => `${method} ${path.replace('/api/auth/passkeys', '')}`)).toHaveLength(10);
    for (const { operationId, requestBody } of own) {
      const { schema, examples } = requestBody?.content['application/json'] ?? {};
      const { value } = (examples as { example?: { value: unknown } } | undefined)?.example ?? {};
      if (schema) expect([operationId, api.problems(schema, value)]).toEqual([operationId, []]);
    }
  });
});

/** Claims the id of another passkey. */
class CopyingAuthenticator extends SoftwareAuthenticator {
  constructor(
    origin: string,
    private readonly copied: string,
  ) {
    super(origin);
  }

  override create(...given: Parameters<SoftwareAuthenticator['create']>) {
    const credential = super.create(...given);
    const attestation = Buffer.from(credential.response.attestationObject, 'base64url').toString('latin1');
    const [own, other] = [credential.id, this.copied].map((id) => Buffer.from(id, 'base64url').toString('latin1'));
    const changed = attestation.replace(String(own), () => String(other));
    const response = {
      ...credential.response,
      attestationObject: Buffer.from(changed, 'latin1').toString('base64url'),
    };
    return { ...credential, id: this.copied, rawId: this.copied, response };
  }
}

describe.each(ONE_PLATFORM)('with other plugins on %s', (platform) => {
  let app: AuthApp;
  afterEach(() => app.close());

  it('`beforeLogin` of another plugin decides about logins by passkey', async () => {
    let isAsking = false;
    const step: AuthPlugin = {
      name: 'step',
      beforeLogin: () => (isAsking ? { message: 'Another step', data: { step: 2 } } : undefined),
    };
    app = await startPasskeyApp(platform, { plugins: [PASSKEYS, step], sessions: false });
    const ann = new Person(app);
    expect((await ann.register()).status).toBe(201);
    isAsking = true;
    expect((await ann.logIn()).json).toEqual({ success: true, message: 'Another step', data: { step: 2 } });
  });

  it('a registration that a plugin refuses, or that is not stored, leaves nothing', async () => {
    const refusing: AuthPlugin = {
      name: 'refusing',
      beforeLogin: () => {
        throw new Error('no');
      },
    };
    app = await startPasskeyApp(platform, { plugins: [PASSKEYS, refusing] });
    const ann = new Person(app);
    expect((await ann.register()).status).toBe(500);
    expect(await rowsOf(app)).toEqual([]);
    expect(await app.users().count()).toBe(0);
  });

  it('the policy of passwords does not decide about registrations without one', async () => {
    const check = vi.fn(() => 'refused');
    app = await startPasskeyApp(platform, { passwordPolicy: { minLength: 60, check } });
    expect((await new Person(app).register()).status).toBe(201);
    expect(check).not.toHaveBeenCalled();
  });

  it('without `registration`, nobody registers by a passkey', async () => {
    app = await startPasskeyApp(platform, { registration: false });
    const ann = new Person(app);
    expect((await ann.post('passkeys/register/options', { email: ann.email })).status).toBe(404);
    expect((await ann.post('passkeys/register', {})).status).toBe(404);
  });

  it('with `requireVerified`, a login by passkey needs the verified address too', async () => {
    const mailer = { useClass: Mailbox };
    app = await startPasskeyApp(platform, { plugins: [PASSKEYS, mailedLinks({ required: true })], mailer });
    const ann = new Person(app);
    const registered = await ann.register();
    expect([registered.status, registered.json.data.token]).toEqual([201, undefined]);
    expect((await ann.logIn()).status).toBe(403);
    const [mail] = await mailsTo(ann.email);
    expect((await ann.post('verify', { token: mail?.token })).status).toBe(204);
    expect((await ann.logIn()).status).toBe(200);
  });

  it('a stranger who has registered with an address loses the passkey to its owner, who keeps own ones', async () => {
    const mailer = { useClass: Mailbox };
    app = await startPasskeyApp(platform, { plugins: [PASSKEYS, mailedLinks()], mailer });
    const reset = async (email: string, password: string, count: number) => {
      await new Person(app).post('password/forgot', { email });
      const mails = (await mailsTo(email, count)).filter(({ kind }) => kind === 'reset');
      const { token } = mails.at(-1) ?? {};
      return new Person(app).post('password/reset', { token, password });
    };
    const eve = new Person(app);
    await eve.register();
    const victim = new Person(app);
    victim.email = eve.email;
    expect((await reset(victim.email, PASSWORD, 1)).status).toBe(204);
    expect((await eve.logIn()).status).toBe(401);
    victim.token = (await victim.post('login', { email: victim.email, password: PASSWORD })).json.data.token;
    expect((await victim.add()).status).toBe(201);
    // One mail tells of the change.
    expect((await reset(victim.email, `${PASSWORD}!`, 3)).status).toBe(204);
    expect((await victim.logIn()).status).toBe(200);
  });

  it('the challenges of an account end with its password and its sessions', async () => {
    // A token without a session goes on.
    app = await startPasskeyApp(platform, { sessions: false });
    const ann = await new Person(app).registerByPassword();
    const begin = async () => ann.device.create((await ann.post('passkeys/options', { password: PASSWORD })).json.data);
    const begun = await begin();
    const id = await ann.id();
    await accountsOf(app).setPassword(id, PASSWORD);
    expect(expectFailure(await ann.post('passkeys', { credential: begun }))).toBe(NOT_VALID);
    const another = await begin();
    await accountsOf(app).endSessions(id);
    expect(expectFailure(await ann.post('passkeys', { credential: another }))).toBe(NOT_VALID);
  });

  it('a passkey is not added when a reset of the password comes before it is stored', async () => {
    app = await startPasskeyApp(platform);
    const ann = await new Person(app).registerByPassword();
    const id = await ann.id();
    const { json } = await ann.post('passkeys/options', { password: PASSWORD });
    beforeStatement(app, /^INSERT INTO "declarest_passkey"\(/, () => accountsOf(app).setPassword(id, PASSWORD));
    expect(expectFailure(await ann.post('passkeys', { credential: ann.device.create(json.data) }))).toBe(NOT_VALID);
    vi.restoreAllMocks();
    expect(await rowsOf(app)).toEqual([]);
  });

  it('challenges and logins of one address are limited', async () => {
    app = await startPasskeyApp(platform, { throttle: { addressTries: 3 } });
    const ann = new Person(app);
    await ann.register();
    const statuses = [];
    for (let tries = 0; tries < 5; tries += 1) statuses.push((await ann.logIn({ key: newKey() })).status);
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    for (let tries = 0; tries < 30; tries += 1) await ann.post('passkeys/login/options');
    expect((await ann.post('passkeys/login/options')).status).toBe(429);
  });

  it('works without sessions, where a challenge belongs to its user alone', async () => {
    app = await startPasskeyApp(platform, { sessions: false });
    const [ann, eve] = [await new Person(app).registerByPassword(), await new Person(app).registerByPassword()];
    const credential = ann.device.create((await ann.post('passkeys/options', { password: PASSWORD })).json.data);
    expect(expectFailure(await eve.post('passkeys', { credential }))).toBe(NOT_VALID);
    expect((await ann.post('passkeys', { credential })).status).toBe(201);
    expect((await ann.logIn()).json.data).toEqual({ user: expect.any(Object), token: expect.any(String) });
  });
});

it.each<[string, unknown, RegExp]>([
  ['no options', undefined, /The options of passkeys must be /],
  ['no rpId', { origins: [ORIGIN] }, /passkeys option `rpId` must be a domain such as "shop\.example", got /],
  ['an origin as rpId', { rpId: ORIGIN, origins: [ORIGIN] }, /passkeys option `rpId` must be a domain/],
  [
    'an address as rpId',
    { rpId: '127.0.0.1', origins: ['http://127.0.0.1'] },
    /passkeys option `rpId` must be a domain/,
  ],
  ['no origins', { rpId: 'shop.example', origins: [] }, /passkeys option `origins` must be a list of origins/],
  ['another name', { rpId: 'shop.example', origins: [ORIGIN], name: 'Shop' }, /name/],
  ...[`${ORIGIN}/`, 'http://shop.example', 'https://notshop.example', 'shop.example', 'https://SHOP.example'].map(
    (origin): [string, unknown, RegExp] => [
      `the origin ${origin}`,
      { rpId: 'shop.example', origins: [ORIGIN, origin] },
      /HTTPS origins of shop/,
    ],
  ),
])('%s: one sentence', (_, options, message) => {
  expect(() => passkeys(options as never)).toThrow(message);
  expect(() => passkeys(options as never)).toThrow(/^[^\n]+ must be [^\n]+, got [^\n]+\. [A-Z][^\n]{10,}\.$/);
});

it('accepts localhost, and the origin of an Android app', () => {
  const app = `android:apk-key-hash:${'A'.repeat(43)}`;
  expect(() => passkeys({ rpId: 'localhost', origins: ['http://localhost:3000', app] })).not.toThrow();
});
