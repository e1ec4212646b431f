import bcrypt from 'bcrypt';
import { Transform } from 'class-transformer';
import { AuthUser, LoginMethod, UserAccounts } from 'declarest';
import { Column, Entity } from 'typeorm';
import { request } from '../harness/client.js';
import { DATABASES } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { type AuthApp, expectFailure, PASSWORD, startAuth, unique, uniqueEmail } from './auth-app.js';

const REGISTER = '/api/auth/register';
const TOKEN = expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/);
const JSON_TYPE = { 'content-type': 'application/json' };

/** 64 + 1 + 63 + 1 + 63 + 1 + 61 = 254 */
const LONGEST_EMAIL = `${'a'.repeat(64)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`;

@Entity()
class Member extends AuthUser {
  @Column('varchar', { length: 20, nullable: true })
  phone!: string | null;

  @Column({ default: 0 })
  credit!: number;
}

describe.each(PLATFORMS)('on %s', (platform) => {
  describe('with login by e-mail', () => {
    let app: AuthApp;
    beforeAll(async () => {
      app = await startAuth(platform);
    });
    afterAll(() => app.close());
    const register = (json: unknown) => app.post(REGISTER, json);

    it('[2.3] register answers 201 with the whole user and a token', async () => {
      const user = { email: uniqueEmail(), username: unique('ann'), firstName: 'Ann', lastName: 'Lee' };
      const answer = await register({ ...user, password: PASSWORD });
      expect(answer.status).toBe(201);
      expect(answer.json).toEqual({
        success: true,
        message: expect.stringMatching(/\S/),
        data: { user: { id: expect.any(Number), ...user, role: 'USER', active: true }, token: TOKEN },
      });
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    });

    it('[2.3] many unknown fields are answered in few words', async () => {
      const body = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`field${index}`, 1]));
      const { status, text, json } = await register(body);
      expect([status, text.length < 2_000]).toEqual([400, true]);
      expect(json.message).toMatch(
        /^email: required; .*; field0: not accepted here, expected only email, .*; field1: not accepted here; .* … and \d+ more$/,
      );
    });

    it('[2.3] optional fields that are absent or null are null, and several users may have no username', async () => {
      const absent = { username: null, firstName: null, lastName: null };
      for (const fields of [{}, absent]) {
        const { status, json } = await register({ email: uniqueEmail(), password: PASSWORD, ...fields });
        expect([status, json.data.user]).toEqual([201, expect.objectContaining(absent)]);
      }
    });

    it('[2.1] the password is stored as a bcrypt hash with a salt of its own, and no response contains it', async () => {
      const [email, other] = [uniqueEmail(), uniqueEmail()];
      const { token } = await app.register({ email });
      await app.register({ email: other });
      const [hash, otherHash] = [(await app.row({ email }))['password'], (await app.row({ email: other }))['password']];
      expect(hash).toMatch(/^\$2b\$04\$[./A-Za-z0-9]{53}$/);
      expect(await bcrypt.compare(PASSWORD, hash as string)).toBe(true);
      expect(otherHash).not.toBe(hash);
      for (const { text } of [
        await register({ email, password: PASSWORD }),
        await app.post('/api/auth/login', { email, password: PASSWORD }),
        await app.get('/api/auth/me', { token }),
      ])
        expect(text).not.toMatch(/password|\$2b\$|battery/);
    });

    it('[2.3] an e-mail is stored, compared and named trimmed and lower-cased', async () => {
      const email = uniqueEmail();
      const { status, json } = await register({ email: `  ${email.toUpperCase()}\t\n`, password: PASSWORD });
      expect([status, json.data?.user.email]).toEqual([201, email]);
      expect(await app.users().countBy({ email })).toBe(1);
      const again = await register({ email: ` ${email.replace('user', 'USER')} `, password: PASSWORD });
      expect([again.status, again.json]).toEqual([
        400,
        { success: false, message: `User with email ${email} already exists` },
      ]);
    });

    it.each([
      ['the Kelvin sign', 'mi\u212Ae@x.com'],
      ['a dotted capital I', 'm\u0130ke@x.com'],
      ['fullwidth letters', '\uff2dike@x.com'],
      ['a no-break space in front', '\u00a0mike@x.com'],
      ['a byte order mark behind', 'mike@x.com\ufeff'],
    ])('[2.3] an e-mail with %s is 400 and does not become another address', async (_, email) => {
      await register({ email: 'mike@x.com', password: PASSWORD });
      expect(expectFailure(await register({ email, password: PASSWORD }))).toContain('email');
      expect((await app.post('/api/auth/login', { email, password: PASSWORD })).status).toBe(401);
    });

    it.each(['email', 'username', 'password', 'firstName', 'lastName'])(
      '[2.3] %s with a lone surrogate is 400',
      async (field) => {
        const before = await app.users().count();
        for (const surrogate of ['\ud800', '\udfff', '\udc00\ud800']) {
          const body = { email: uniqueEmail(), password: PASSWORD, [field]: `long enough${surrogate}@x.com` };
          expect(expectFailure(await register(body))).toContain(`${field}:`);
        }
        expect(await app.users().count()).toBe(before);
      },
    );

    it('[2.3] a taken username is 400, a username in another case is free, and the refused user is not stored', async () => {
      const username = unique('carl');
      await app.register({ email: uniqueEmail(), username });
      const email = uniqueEmail();
      const { status, json } = await register({ email, username, password: PASSWORD });
      expect([status, json]).toEqual([
        400,
        { success: false, message: `User with username ${username} already exists` },
      ]);
      expect(await app.users().countBy({ email })).toBe(0);
      const { user } = await app.register({ email, username: username.toUpperCase() });
      expect(user['username']).toBe(username.toUpperCase());
    });

    it.each([
      ['email', '254 characters, space around them not counted', ` ${LONGEST_EMAIL} `],
      ['username', '64 characters of four bytes', '😀'.repeat(64)],
      ['username', 'a space inside', 'Ann Lee'],
      ['firstName', '100 characters of two bytes', 'é'.repeat(100)],
      ['lastName', 'a quote and a semicolon', `O'Neil"; DROP TABLE user; --`],
    ])('[2.3] %s of %s is accepted and returned as sent', async (field, _, value) => {
      const { status, json } = await register({ email: uniqueEmail(), password: PASSWORD, [field]: value });
      expect([status, json.data?.user[field]]).toEqual([201, value.trim()]);
    });

    it.each([
      ['8 characters of four bytes', '😀'.repeat(8)],
      ['72 bytes', 'p'.repeat(72)],
      ['36 characters in 72 bytes', 'ä'.repeat(36)],
      ['only spaces', ' '.repeat(8)],
      ['spaces at both ends', `  ${PASSWORD}  `],
      ['a NUL inside', 'secret\0aaaa'],
    ])('[2.3] a password of %s logs in, and no other spelling does', async (_, password) => {
      const email = uniqueEmail();
      expect((await register({ email, password })).status).toBe(201);
      const login = async (sent: string) => (await app.post('/api/auth/login', { email, password: sent })).status;
      expect(await login(password)).toBe(200);
      const last = `${[...password].slice(0, -1).join('')}b`;
      expect([await login(last), await login(password.trim() || 'x'), await login(`${password} `)]).toEqual(
        password.trim() === password ? [401, 200, 401] : [401, 401, 401],
      );
    });

    it.each<[string, string, unknown]>([
      ['an absent e-mail', 'email', undefined],
      ['an empty e-mail', 'email', ''],
      ['an e-mail without a host', 'email', 'ann@'],
      ['an e-mail with two @', 'email', 'ann@lee@example.com'],
      ['an e-mail with a line break inside', 'email', 'ann@example.com\nbcc: all@example.com'],
      ['an e-mail of 255 characters', 'email', `${LONGEST_EMAIL}d`],
      ['an e-mail in an array', 'email', ['ann@example.com']],
      ['an e-mail that is an operator', 'email', { $ne: null }],
      ['an empty username', 'username', ''],
      ['a username of 65 characters', 'username', 'u'.repeat(65)],
      ['a username with a leading space', 'username', ' ann'],
      ['a username with a trailing no-break space', 'username', 'ann\u00a0'],
      ['a username that is a number', 'username', 5],
      ['an absent password', 'password', undefined],
      ['a password of 7 characters in 28 bytes', 'password', '😀'.repeat(7)],
      ['a password of 73 bytes', 'password', 'p'.repeat(73)],
      ['a password of 37 characters in 74 bytes', 'password', 'ä'.repeat(37)],
      ['a password that is a number', 'password', 1234567890],
      ['a first name of 101 characters', 'firstName', 'n'.repeat(101)],
      ['a last name that is an object', 'lastName', {}],
      ['a role', 'role', 'ADMIN'],
      ['a role of null', 'role', null],
      ['active', 'active', true],
      ['an id', 'id', 1],
      ['an unknown field', 'nickname', 'Annie'],
      ['a field of Object.prototype', 'constructor', {}],
      ['a column in another case', 'Email', 'ann@example.com'],
    ])('[2.3] %s is 400, names only that field, and stores nobody', async (_, field, value) => {
      const before = await app.users().count();
      const message = expectFailure(await register({ email: uniqueEmail(), password: PASSWORD, [field]: value }));
      expect(message.split('; ').map((problem) => problem.split(':')[0])).toEqual([field]);
      expect(await app.users().count()).toBe(before);
    });

    it('[2.3] a field named __proto__ is 400', async () => {
      const email = uniqueEmail();
      const body = `{"email":"${email}","password":"${PASSWORD}","__proto__":{"role":"ADMIN"}}`;
      expectFailure(await request(app.url, 'POST', REGISTER, { body, headers: JSON_TYPE }));
      expect(await app.users().countBy({ email })).toBe(0);
    });

    it('[2.3] a validation message names every invalid field', async () => {
      const wrong = { email: 'no', username: '', password: 'short', firstName: 5, lastName: [], role: 'ADMIN', x: 1 };
      const message = expectFailure(await register(wrong));
      for (const field of Object.keys(wrong)) expect(message).toMatch(new RegExp(`\\b${field}: `));
      expect(expectFailure(await register({}))).toMatch(/email: required; password: required/);
    });

    it.each<[string, number, { body?: string; headers?: Record<string, string> }]>([
      ['malformed JSON', 400, { body: '{"email":', headers: JSON_TYPE }],
      ['no body', 400, {}],
      ['an empty body', 400, { body: '', headers: JSON_TYPE }],
      ['an array', 400, { body: '[{"email":"a@b.de","password":"12345678"}]', headers: JSON_TYPE }],
      ['null', 400, { body: 'null', headers: JSON_TYPE }],
      ['a string', 400, { body: '"ann"', headers: JSON_TYPE }],
      ['a form', 415, { body: 'email=a%40b.de', headers: { 'content-type': 'application/x-www-form-urlencoded' } }],
      ['JSON without a content type', 415, { body: '{"email":"a@b.de"}' }],
      ['a body over the limit', 413, { body: JSON.stringify({ email: 'n'.repeat(2_000_000) }), headers: JSON_TYPE }],
    ])('[2.3] register and login with %s are %i in the same shape', async (_, status, options) => {
      for (const path of ['register', 'login'])
        expectFailure(await request(app.url, 'POST', `/api/auth/${path}`, options), status);
    });

    // A parser's message quotes a short body completely.
    it.each(['s3cret', '{"password":s3cret}', '["s3cret"'])(
      '[2.3] the message about the malformed body %s does not repeat it',
      async (body) => {
        for (const path of ['register', 'login']) {
          const answer = await request(app.url, 'POST', `/api/auth/${path}`, { body, headers: JSON_TYPE });
          expect(expectFailure(answer)).not.toContain('s3c');
        }
        expect(app.logs.join('\n')).not.toContain('s3c');
      },
    );

    it.each(['GET register', 'GET login', 'POST me', 'POST ', 'POST logout'])('[2.3] %s is 404', async (endpoint) => {
      const [method = '', path] = endpoint.split(' ');
      expect((await request(app.url, method, `/api/auth/${path}`)).status).toBe(404);
    });
  });

  it('[2.1] with login by username the username is required, and the e-mail optional, checked and unique', async () => {
    const app = await startAuth(platform, { auth: { loginMethod: LoginMethod.USERNAME } });
    const register = (json: object) => app.post(REGISTER, { password: PASSWORD, ...json });
    const { status, json } = await register({ username: 'Ann' });
    expect([status, json.data.user]).toMatchObject([201, { email: null, username: 'Ann' }]);
    expect(expectFailure(await register({ email: 'bob@example.com' }))).toBe('username: required');
    expect(expectFailure(await register({ username: 'Ann' }))).toBe('User with username Ann already exists');
    expect(expectFailure(await register({ username: 'bob', email: 'no address' }))).toContain('email');
    expect((await app.register({ username: 'bob', email: ' BOB@example.com ' })).user['email']).toBe('bob@example.com');
    const taken = await register({ username: 'carl', email: 'bob@example.com' });
    expect(expectFailure(taken)).toBe('User with email bob@example.com already exists');
    await app.close();
  });

  it.each(DATABASES)('[2.3] of 50 parallel registrations of one e-mail exactly one succeeds (%s)', async (database) => {
    const app = await startAuth(platform, { database });
    const spellings = ['one@example.com', 'ONE@example.com', ' one@Example.com '];
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        app.post(REGISTER, { email: spellings[n % 3], username: 'one', password: PASSWORD }),
      ),
    );
    const refused = answers.filter(({ status }) => status === 400);
    expect([answers.filter(({ status }) => status === 201).length, refused.length]).toEqual([1, 49]);
    for (const { json } of refused)
      expect(json.message).toMatch(/^User with (email one@example\.com|username one) already exists$/);
    expect(await app.users().count()).toBe(1);
    await app.close();
  });

  it.each(DATABASES)(
    '[2.3] usernames are exact, whatever the collation, and the longest values fit (%s)',
    async (database) => {
      const app = await startAuth(platform, { database, auth: { loginMethod: LoginMethod.USERNAME } });
      const names = ['rene', 'RENE', 'rené', 'ｒｅｎｅ', 'straße', 'strasse', '😀', '😁'];
      const ids = new Set<unknown>();
      for (const username of names)
        ids.add((await app.register({ username, password: `password of ${username}` })).user['id']);
      expect(ids.size).toBe(names.length);
      for (const username of names) {
        const own = await app.post('/api/auth/login', { username, password: `password of ${username}` });
        expect([username, own.status, own.json.data?.user.username]).toEqual([username, 200, username]);
      }
      const longest = {
        username: '😀'.repeat(64),
        email: LONGEST_EMAIL,
        firstName: '😀'.repeat(100),
        lastName: 'ü'.repeat(100),
      };
      const { user, token } = await app.register(longest);
      expect(user).toMatchObject(longest);
      expect((await app.get('/api/auth/me', { token })).json.data.user).toEqual(user);
      const taken = await app.post(REGISTER, { ...longest, email: 'x@example.com', password: PASSWORD });
      expect(expectFailure(taken)).toBe(`User with username ${longest.username} already exists`);
      await app.close();
    },
  );

  it('[2.3] registrationFields lists the columns of the application that register accepts', async () => {
    const app = await startAuth(platform, { auth: { userClass: Member, registrationFields: ['phone'] } });
    const email = uniqueEmail();
    const { user } = await app.register({ email, phone: '+49 30 1' });
    expect(await app.row({ email })).toMatchObject({ phone: '+49 30 1', credit: 0 });
    expect(user).not.toHaveProperty('phone');
    await app.register({ email: uniqueEmail() });
    const register = (fields: object) => app.post(REGISTER, { email: uniqueEmail(), password: PASSWORD, ...fields });
    for (const phone of [5, {}, '1'.repeat(21), 'lone \ud800'])
      expect(expectFailure(await register({ phone }))).toContain('phone');
    expect(expectFailure(await register({ credit: 1000 }))).toContain('credit');
    await app.close();
  });

  it('[2.3] registrationRole is the role of users who register, and of no others', async () => {
    const app = await startAuth(platform, { auth: { registrationRole: 'CUSTOMER' } });
    const { user, token } = await app.register({ email: uniqueEmail() });
    const { json } = await app.get('/who', { token });
    expect([user['role'], json.user.roles]).toEqual(['CUSTOMER', ['CUSTOMER']]);
    const chosen = await app.post(REGISTER, { email: uniqueEmail(), password: PASSWORD, role: 'CUSTOMER' });
    expect(expectFailure(chosen)).toContain('role: not accepted here');
    const accounts = app.app.get(UserAccounts, { strict: false });
    expect((await accounts.create({ email: uniqueEmail(), password: PASSWORD })).role).toBe('USER');
    // The option names it.
    expect(app.logs.filter((line) => line.includes('names the role'))).toEqual([]);
    await expect(accounts.setRole(Number(user['id']), 'customer')).rejects.toThrow('"CUSTOMER"');
    await app.close();
  });

  it('[2.3] class-transformer applies to the columns of the application, in register and in the own profile', async () => {
    @Entity('member')
    class Member extends AuthUser {
      @Transform(({ value }: { value: string }) => value.trim())
      @Column({ length: 5, default: '' })
      city!: string;

      @Transform(({ value }: { value: { code: string } }) => value.code.trim())
      @Column('simple-json', { nullable: true })
      note!: string | null;
    }
    const auth = { userClass: Member, registrationFields: ['city', 'note'], sessions: true };
    const app = await startAuth(platform, { auth });
    const email = uniqueEmail();
    const { token } = await app.register({ email, city: '  Bonn  ', note: { code: ' a ' } });
    expect(await app.row({ email })).toMatchObject({ city: 'Bonn', note: 'a' });
    const change = (json: object) => request(app.url, 'PATCH', '/api/auth/me', { token, json });
    expect((await change({ city: '  Ulm  ' })).status).toBe(200);
    expect(await app.row({ email })).toMatchObject({ city: 'Ulm', note: 'a' });
    const wrong = { city: 5, note: 7 };
    const message = 'city: expected text of at most 5 characters; note: expected a value that the server can convert';
    expect(expectFailure(await app.post(REGISTER, { email: uniqueEmail(), password: PASSWORD, ...wrong }))).toBe(
      message,
    );
    expect(expectFailure(await change(wrong))).toBe(message);
    await app.close();
  });
});
