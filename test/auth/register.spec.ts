import bcrypt from 'bcrypt';
import { AuthUser, LoginMethod } from 'declarest';
import { Column, Entity } from 'typeorm';
import { request } from '../harness/client.js';
import { DATABASES } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { type AuthApp, expectFailure, PASSWORD, startAuth, unique, uniqueEmail } from './auth-app.js';

const REGISTER = '/api/auth/register';
const TOKEN = expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/);

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
      const email = uniqueEmail();
      const username = unique('ann');
      const answer = await register({ email, username, password: PASSWORD, firstName: 'Ann', lastName: 'Lee' });
      expect(answer.status).toBe(201);
      expect(answer.json).toEqual({
        success: true,
        message: expect.stringMatching(/\S/),
        data: {
          user: {
            id: expect.any(Number),
            email,
            username,
            firstName: 'Ann',
            lastName: 'Lee',
            role: 'USER',
            active: true,
          },
          token: TOKEN,
        },
      });
    });

    it('[2.3] optional fields that are absent are null', async () => {
      const email = uniqueEmail();
      const { json } = await register({ email, password: PASSWORD });
      expect(json.data.user).toEqual({
        id: expect.any(Number),
        email,
        username: null,
        firstName: null,
        lastName: null,
        role: 'USER',
        active: true,
      });
    });

    it('[2.3] an optional field sent as null is an absent one', async () => {
      const body = { email: uniqueEmail(), password: PASSWORD, username: null, firstName: null, lastName: null };
      const { status, json } = await register(body);
      expect([status, json.data.user]).toEqual([
        201,
        expect.objectContaining({ username: null, firstName: null, lastName: null }),
      ]);
    });

    it('[2.4] the answer to a registration, which holds a token, carries Cache-Control: no-store', async () => {
      const { headers } = await register({ email: uniqueEmail(), password: PASSWORD });
      expect(headers['cache-control']).toBe('no-store');
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
    });

    it('[2.1] a user gets a generated integer id, the role USER, and is active', async () => {
      const first = await app.register({ email: uniqueEmail() });
      const second = await app.register({ email: uniqueEmail() });
      expect(Number.isSafeInteger(first.user['id'])).toBe(true);
      expect(second.user['id']).not.toBe(first.user['id']);
      expect(await app.row({ id: second.user['id'] as number })).toMatchObject({ role: 'USER', active: true });
    });

    it('[2.1] the password is stored as a bcrypt hash', async () => {
      const email = uniqueEmail();
      await app.register({ email });
      const { password } = (await app.row({ email })) as { password: string };
      expect(password).toMatch(/^\$2b\$04\$[./A-Za-z0-9]{53}$/);
      expect(await bcrypt.compare(PASSWORD, password)).toBe(true);
    });

    it('[2.1] two users with the same password have different hashes, since the salt is made for each', async () => {
      const emails = [uniqueEmail(), uniqueEmail()] as const;
      for (const email of emails) await app.register({ email });
      const hashes = await Promise.all(emails.map(async (email) => (await app.row({ email }))['password']));
      expect(hashes[0]).not.toBe(hashes[1]);
    });

    it('[2.1] neither the password nor its hash is in any answer', async () => {
      const email = uniqueEmail();
      const { token } = await app.register({ email });
      const { password: hash } = await app.row({ email });
      const answers = await Promise.all([
        register({ email: uniqueEmail(), password: PASSWORD }),
        register({ email, password: PASSWORD }),
        app.post('/api/auth/login', { email, password: PASSWORD }),
        app.get('/api/auth/me', { token }),
      ]);
      for (const { text } of answers) {
        expect(text).not.toContain(PASSWORD);
        expect(text).not.toContain(hash);
        expect(text).not.toMatch(/password|\$2b\$/);
      }
    });

    describe('e-mail', () => {
      it.each([
        ['in upper case', (email: string) => email.toUpperCase()],
        ['with space around it', (email: string) => `  ${email}\t\n`],
        ['with both', (email: string) => ` ${email.replace('user', 'USER')} `],
      ])('[2.3] an e-mail %s is returned and stored trimmed and lower-cased', async (_, spell) => {
        const email = uniqueEmail();
        const { status, json } = await register({ email: spell(email), password: PASSWORD });
        expect([status, json.data?.user.email]).toEqual([201, email]);
        expect(await app.users().countBy({ email })).toBe(1);
      });

      it.each([
        ['as it was', (email: string) => email],
        ['in another case', (email: string) => email.toUpperCase()],
        ['with space around it', (email: string) => ` ${email} `],
      ])('[2.3] a taken e-mail, %s, is 400 with exactly "User with email <EMAIL> already exists"', async (_, spell) => {
        const email = uniqueEmail();
        await app.register({ email });
        const answer = await register({ email: spell(email), password: PASSWORD });
        expect(answer.status).toBe(400);
        expect(answer.json).toEqual({ success: false, message: `User with email ${email} already exists` });
      });

      it('[2.3] an e-mail of 254 characters is accepted, space around it not counted', async () => {
        expect(LONGEST_EMAIL).toHaveLength(254);
        const { status, json } = await register({ email: `  ${LONGEST_EMAIL}  `, password: PASSWORD });
        expect([status, json.data?.user.email]).toEqual([201, LONGEST_EMAIL]);
      });
    });

    describe('username, which is optional here', () => {
      it('[2.3] a taken username is 400 with exactly "User with username <USERNAME> already exists"', async () => {
        const username = unique('Bob');
        await app.register({ email: uniqueEmail(), username });
        const answer = await register({ email: uniqueEmail(), username, password: PASSWORD });
        expect(answer.status).toBe(400);
        expect(answer.json).toEqual({ success: false, message: `User with username ${username} already exists` });
      });

      it('[2.3] a username that is another one but for its case is not taken', async () => {
        const username = unique('carl');
        await app.register({ email: uniqueEmail(), username });
        const { user } = await app.register({ email: uniqueEmail(), username: username.toUpperCase() });
        expect(user['username']).toBe(username.toUpperCase());
      });

      it('[2.3] any number of users may have none', async () => {
        for (let n = 0; n < 2; n += 1)
          expect((await app.register({ email: uniqueEmail() })).user['username']).toBeNull();
      });

      it('[2.3] a registration refused for its username leaves no user behind', async () => {
        const username = unique('dora');
        await app.register({ email: uniqueEmail(), username });
        const email = uniqueEmail();
        expectFailure(await register({ email, username, password: PASSWORD }));
        expect(await app.users().countBy({ email })).toBe(0);
      });
    });

    it('[2.3] when both are taken, the message is that of one of them', async () => {
      const [email, username] = [uniqueEmail(), unique('eve')];
      await app.register({ email, username });
      const message = expectFailure(await register({ email, username, password: PASSWORD }));
      expect([`User with email ${email} already exists`, `User with username ${username} already exists`]).toContain(
        message,
      );
    });

    it.each([
      ['username', '1 character', () => unique('').padStart(1, '1')],
      ['username', '64 characters', () => unique('u').padEnd(64, 'x')],
      ['username', '64 characters of two bytes', () => unique('u').padEnd(64, 'ä')],
      ['username', 'a space inside', () => unique('Ann Lee ')],
      ['firstName', '100 characters', () => 'n'.repeat(100)],
      ['firstName', '100 characters of two bytes', () => 'é'.repeat(100)],
      ['lastName', '100 characters', () => 'n'.repeat(100)],
      ['lastName', 'a quote and a semicolon', () => `O'Neil"; DROP TABLE user; --`],
    ])('[2.3] %s of %s is accepted and returned as it was sent', async (field, _, make) => {
      const value = make();
      const { status, json } = await register({ email: uniqueEmail(), password: PASSWORD, [field]: value });
      expect([status, json.data?.user[field]]).toEqual([201, value]);
    });

    it.each([
      ['8 characters', '8 letter'],
      ['8 characters of four bytes', '😀'.repeat(8)],
      ['72 bytes', 'p'.repeat(72)],
      ['36 characters of two bytes, which are 72', 'ä'.repeat(36)],
      ['18 characters of four bytes, which are 72', '😀'.repeat(18)],
      ['nothing but spaces', ' '.repeat(8)],
    ])('[2.3] a password of %s is accepted, and logs in', async (_, password) => {
      const email = uniqueEmail();
      expect((await register({ email, password })).status).toBe(201);
      expect((await app.post('/api/auth/login', { email, password })).status).toBe(200);
    });

    it('[2.3] a password is never trimmed: its spaces count, at both ends', async () => {
      const email = uniqueEmail();
      const password = `  ${PASSWORD}  `;
      expect((await register({ email, password })).status).toBe(201);
      const login = async (sent: string) => (await app.post('/api/auth/login', { email, password: sent })).status;
      expect(await login(password)).toBe(200);
      expect([await login(PASSWORD), await login(`  ${PASSWORD}`), await login(`${PASSWORD}  `)]).toEqual([
        401, 401, 401,
      ]);
    });

    it.each([
      ['the 72nd byte', 'p'.repeat(71), 'a', 'b'],
      ['what stands behind a NUL', 'secret\0', 'aaaa', 'bbbb'],
      ['its case', '', 'Password', 'password'],
    ])('[2.3] of a password %s counts', async (_, start, right, wrong) => {
      const email = uniqueEmail();
      expect((await register({ email, password: start + right })).status).toBe(201);
      expect((await app.post('/api/auth/login', { email, password: start + right })).status).toBe(200);
      expect((await app.post('/api/auth/login', { email, password: start + wrong })).status).toBe(401);
    });

    const email = (value: unknown) => ['email', value] as const;
    const username = (value: unknown) => ['username', value] as const;
    const password = (value: unknown) => ['password', value] as const;
    it.each([
      ['an absent e-mail', ...email(undefined)],
      ['an e-mail that is null', ...email(null)],
      ['an empty e-mail', ...email('')],
      ['an e-mail of space only', ...email('   ')],
      ['an e-mail without @', ...email('ann.example.com')],
      ['an e-mail without a name', ...email('@example.com')],
      ['an e-mail without a host', ...email('ann@')],
      ['an e-mail with two @', ...email('ann@lee@example.com')],
      ['an e-mail with a space inside', ...email('ann lee@example.com')],
      ['an e-mail with a line break inside', ...email('ann@example.com\nbcc: all@example.com')],
      ['an e-mail of 255 characters', ...email(`${LONGEST_EMAIL}d`)],
      ['an e-mail that is a number', ...email(5)],
      ['an e-mail that is true', ...email(true)],
      ['an e-mail in an array', ...email(['ann@example.com'])],
      ['an e-mail that is an object', ...email({ $ne: null })],
      ['an empty username', ...username('')],
      ['a username of 65 characters', ...username('u'.repeat(65))],
      ['a username with a space in front', ...username(' ann')],
      ['a username with a space behind', ...username('ann ')],
      ['a username with a tab behind', ...username('ann\t')],
      ['a username with a no-break space in front', ...username('\u00a0ann')],
      ['a username that is a number', ...username(5)],
      ['a username in an array', ...username(['ann'])],
      ['a username that is an object', ...username({})],
      ['an absent password', ...password(undefined)],
      ['a password that is null', ...password(null)],
      ['an empty password', ...password('')],
      ['a password of 7 characters', ...password('1234567')],
      ['a password of 7 characters in 28 bytes', ...password('😀'.repeat(7))],
      ['a password of 73 bytes', ...password('p'.repeat(73))],
      ['a password of 37 characters in 74 bytes', ...password('ä'.repeat(37))],
      ['a password that is a number', ...password(1234567890)],
      ['a password in an array', ...password(['correct horse'])],
      ['a password that is an object', ...password({ length: 10 })],
      ['a first name of 101 characters', 'firstName', 'n'.repeat(101)],
      ['a first name that is a number', 'firstName', 5],
      ['a first name in an array', 'firstName', ['Ann']],
      ['a last name of 101 characters', 'lastName', 'n'.repeat(101)],
      ['a last name that is an object', 'lastName', {}],
      ['a last name that is false', 'lastName', false],
    ])('[2.3] %s is 400, names the field, and stores nobody', async (_, field, value) => {
      const before = await app.users().count();
      const message = expectFailure(await register({ email: uniqueEmail(), password: PASSWORD, [field]: value }));
      expect(message).toContain(field);
      for (const other of ['email', 'username', 'password', 'firstName', 'lastName'].filter((name) => name !== field))
        expect(message).not.toContain(`${other}:`);
      expect(await app.users().count()).toBe(before);
    });

    it('[2.3] a validation message names every wrong field at once', async () => {
      const message = expectFailure(
        await register({
          email: 'no',
          username: '',
          password: 'short',
          firstName: 5,
          lastName: [],
          role: 'ADMIN',
          x: 1,
        }),
      );
      for (const field of ['email', 'username', 'password', 'firstName', 'lastName', 'role', 'x'])
        expect(message).toMatch(new RegExp(`\\b${field}\\b`));
    });

    it('[2.3] an empty object is 400 and names every required field', async () => {
      const message = expectFailure(await register({}));
      expect(message).toContain('email');
      expect(message).toContain('password');
    });

    it.each([
      ['role', 'ADMIN'],
      ['role', 'USER'],
      ['role', null],
      ['active', true],
      ['active', false],
      ['id', 1],
      ['roles', ['ADMIN']],
      ['nickname', 'Annie'],
      ['constructor', {}],
      ['toString', 'x'],
      ['passwordHash', '$2b$04$x'],
      ['Email', 'ann@example.com'],
    ])('[2.3] the field %s (%j), which a client may not set, is refused with 400', async (field, value) => {
      const mail = uniqueEmail();
      const message = expectFailure(await register({ email: mail, password: PASSWORD, [field]: value }));
      expect(message).toContain(field);
      expect(await app.users().countBy({ email: mail })).toBe(0);
    });

    it('[2.3] a field named __proto__ is refused with 400', async () => {
      const mail = uniqueEmail();
      const body = `{"email":"${mail}","password":"${PASSWORD}","__proto__":{"role":"ADMIN"}}`;
      const options = { body, headers: { 'content-type': 'application/json' } };
      expectFailure(await request(app.url, 'POST', REGISTER, options));
      expect(await app.users().countBy({ email: mail })).toBe(0);
    });

    const JSON_TYPE = { 'content-type': 'application/json' };
    const UNREADABLE: [string, number, { body?: string; headers?: Record<string, string> }][] = [
      ['malformed JSON', 400, { body: '{"email":', headers: JSON_TYPE }],
      ['text that is no JSON', 400, { body: 'email=ann', headers: JSON_TYPE }],
      ['a missing body', 400, {}],
      ['a body of no bytes', 400, { body: '', headers: JSON_TYPE }],
      ['an array', 400, { body: '[]', headers: JSON_TYPE }],
      ['an array of a right object', 400, { body: '[{"email":"a@b.de","password":"12345678"}]', headers: JSON_TYPE }],
      ['null', 400, { body: 'null', headers: JSON_TYPE }],
      ['a string', 400, { body: '"ann"', headers: JSON_TYPE }],
      ['a number', 400, { body: '5', headers: JSON_TYPE }],
      ['true', 400, { body: 'true', headers: JSON_TYPE }],
      ['text/plain', 415, { body: '{"email":"a@b.de"}', headers: { 'content-type': 'text/plain' } }],
      ['a form', 415, { body: 'email=a%40b.de', headers: { 'content-type': 'application/x-www-form-urlencoded' } }],
      ['XML', 415, { body: '<email/>', headers: { 'content-type': 'application/xml' } }],
      ['JSON without a content type', 415, { body: '{"email":"a@b.de"}' }],
      [
        'a body larger than the platform takes',
        413,
        { body: JSON.stringify({ email: 'a@b.de', firstName: 'n'.repeat(2_000_000) }), headers: JSON_TYPE },
      ],
    ];
    it.each(['register', 'login'].flatMap((path) => UNREADABLE.map((row) => [path, ...row] as const)))(
      '[2.3] %s with %s is %i in the same shape, never 500',
      async (path, _, status, options) => {
        expectFailure(await request(app.url, 'POST', `/api/auth/${path}`, options), status);
      },
    );

    // A parser quotes what it stumbled over, which is short enough here to be quoted whole.
    it.each(['s3cret', 's3cret12', '{"password":s3cret}', '["s3cret"', '{"password":"s3cret"'])(
      '[2.3] a message about the unreadable body %s does not repeat it',
      async (body) => {
        for (const path of ['register', 'login']) {
          const answer = await request(app.url, 'POST', `/api/auth/${path}`, { body, headers: JSON_TYPE });
          expect(expectFailure(answer)).not.toContain('s3c');
        }
        expect(app.logs.join('\n')).not.toContain('s3c');
      },
    );

    it.each([
      ['GET', 'register'],
      ['PUT', 'register'],
      ['DELETE', 'register'],
      ['GET', 'login'],
      ['POST', 'me'],
      ['POST', ''],
      ['POST', 'logout'],
    ])('[2.3] %s /api/auth/%s is no endpoint: 404', async (method, path) => {
      expect((await request(app.url, method, `/api/auth/${path}`)).status).toBe(404);
    });
  });

  describe('with login by username', () => {
    let app: AuthApp;
    beforeAll(async () => {
      app = await startAuth(platform, { auth: { loginMethod: LoginMethod.USERNAME } });
    });
    afterAll(() => app.close());
    const register = (json: unknown) => app.post(REGISTER, json);

    it('[2.3] register takes a username and a password, and the e-mail is null', async () => {
      const username = unique('Ann');
      const answer = await register({ username, password: PASSWORD });
      expect(answer.status).toBe(201);
      expect(answer.json).toEqual({
        success: true,
        message: expect.stringMatching(/\S/),
        data: {
          user: {
            id: expect.any(Number),
            email: null,
            username,
            firstName: null,
            lastName: null,
            role: 'USER',
            active: true,
          },
          token: TOKEN,
        },
      });
      expect(answer.headers['cache-control']).toBe('no-store');
    });

    it('[2.1] the username is required where users log in by it', async () => {
      const message = expectFailure(await register({ email: uniqueEmail(), password: PASSWORD }));
      expect(message).toContain('username');
      expect(message).not.toContain('email:');
    });

    it('[2.3] the e-mail stays optional, and is trimmed and lower-cased when given', async () => {
      const email = uniqueEmail();
      const { status, json } = await register({
        username: unique('bob'),
        email: ` ${email.toUpperCase()} `,
        password: PASSWORD,
      });
      expect([status, json.data?.user.email]).toEqual([201, email]);
    });

    it.each(['no address', '', 'a@b@c.de', 5, [], `${LONGEST_EMAIL}d`])(
      '[2.3] the optional e-mail is checked when given: %j is 400',
      async (email) => {
        expect(expectFailure(await register({ username: unique('carl'), email, password: PASSWORD }))).toContain(
          'email',
        );
      },
    );

    it('[2.3] the optional e-mail is unique when given', async () => {
      const email = uniqueEmail();
      await app.register({ username: unique('dora'), email });
      const { status, json } = await register({ username: unique('emma'), email, password: PASSWORD });
      expect([status, json]).toEqual([400, { success: false, message: `User with email ${email} already exists` }]);
    });

    it('[2.3] a taken username is 400 with exactly "User with username <USERNAME> already exists"', async () => {
      const username = unique('Frank');
      await app.register({ username });
      const { status, json } = await register({ username, password: PASSWORD });
      expect([status, json]).toEqual([
        400,
        { success: false, message: `User with username ${username} already exists` },
      ]);
    });

    it('[2.3] usernames are exact: two that differ in case are two users', async () => {
      const username = unique('gina');
      const first = await app.register({ username });
      const second = await app.register({ username: username.toUpperCase() });
      expect(second.user['id']).not.toBe(first.user['id']);
      expect(second.user['username']).toBe(username.toUpperCase());
    });
  });

  it.each(DATABASES)(
    '[2.3] of 50 parallel registrations of one e-mail one is 201, 49 are the 400, and one row is there (%s)',
    async (database) => {
      const app = await startAuth(platform, { database });
      const spellings = ['one@example.com', 'ONE@example.com', ' one@Example.com '];
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, n) =>
          app.post(REGISTER, { email: spellings[n % spellings.length], password: PASSWORD }),
        ),
      );
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
      const refused = answers.filter(({ status }) => status === 400);
      expect(refused).toHaveLength(49);
      for (const { json } of refused)
        expect(json).toEqual({ success: false, message: 'User with email one@example.com already exists' });
      expect(await app.users().count()).toBe(1);
      await app.close();
    },
  );

  describe.each(DATABASES)('over %s', (database) => {
    let app: AuthApp;
    beforeAll(async () => {
      app = await startAuth(platform, { database, auth: { loginMethod: LoginMethod.USERNAME } });
    });
    afterAll(() => app.close());

    it('[2.3] usernames are exact, whatever the database calls equal: each is a user of their own', async () => {
      const names = ['rene', 'RENE', 'rené', 'Rene', 'ｒｅｎｅ', 'straße', 'strasse', '😀', '😁'];
      const ids = new Set<unknown>();
      for (const username of names) {
        const password = `password of ${username}`;
        const answer = await app.post(REGISTER, { username, password });
        expect([username, answer.status, answer.json.data?.user.username]).toEqual([username, 201, username]);
        ids.add(answer.json.data.user.id);
      }
      expect(ids.size).toBe(names.length);
      for (const username of names) {
        const own = await app.post('/api/auth/login', { username, password: `password of ${username}` });
        expect([username, own.status, own.json.data?.user.username]).toEqual([username, 200, username]);
        const other = await app.post('/api/auth/login', { username, password: 'password of somebody' });
        expect(other.status).toBe(401);
      }
    });

    it('[2.3] a taken username and a taken e-mail are named by their exact sentences', async () => {
      await app.register({ username: 'Taken', email: 'taken@example.com' });
      const byName = await app.post(REGISTER, { username: 'Taken', password: PASSWORD });
      expect([byName.status, byName.json]).toEqual([
        400,
        { success: false, message: 'User with username Taken already exists' },
      ]);
      const byMail = await app.post(REGISTER, { username: 'free', email: 'TAKEN@example.com', password: PASSWORD });
      expect([byMail.status, byMail.json]).toEqual([
        400,
        { success: false, message: 'User with email taken@example.com already exists' },
      ]);
    });

    it('[2.3] the longest values are stored and returned whole', async () => {
      const longest = {
        username: '😀'.repeat(64),
        email: LONGEST_EMAIL,
        firstName: '😀'.repeat(100),
        lastName: 'ü'.repeat(100),
      };
      const { user, token } = await app.register(longest);
      expect(user).toMatchObject(longest);
      expect((await app.get('/api/auth/me', { token })).json.data.user).toEqual(user);
    });
  });

  it('[2.3] of 20 parallel registrations of one username, with other e-mails, exactly one wins', async () => {
    const app = await startAuth(platform);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        app.post(REGISTER, { email: uniqueEmail(), username: 'One', password: PASSWORD }),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const { json } of answers.filter(({ status }) => status !== 201))
      expect(json).toEqual({ success: false, message: 'User with username One already exists' });
    expect(await app.users().count()).toBe(1);
    await app.close();
  });

  describe('with columns of the application on the user', () => {
    let app: AuthApp;
    beforeAll(async () => {
      app = await startAuth(platform, { auth: { userClass: Member, registrationFields: ['phone'] } });
    });
    afterAll(() => app.close());

    it('[2.3] a column listed in registrationFields is accepted and stored', async () => {
      const email = uniqueEmail();
      const { user } = await app.register({ email, phone: '+49 30 1' });
      expect(await app.row({ email })).toMatchObject({ phone: '+49 30 1', credit: 0 });
      expect(Object.keys(user).toSorted()).toEqual([
        'active',
        'email',
        'firstName',
        'id',
        'lastName',
        'role',
        'username',
      ]);
    });

    it('[2.3] a listed column that may be null may be left out', async () => {
      const email = uniqueEmail();
      await app.register({ email });
      expect(await app.row({ email })).toMatchObject({ phone: null });
    });

    it('[2.3] a column that is not listed is refused with 400', async () => {
      const answer = await app.post(REGISTER, { email: uniqueEmail(), password: PASSWORD, credit: 1000 });
      expect(expectFailure(answer)).toContain('credit');
    });

    it.each([[5], [{}], ['1'.repeat(21)]])(
      '[2.3] a listed column with a value it cannot hold (%j) is refused with 400',
      async (phone) => {
        const answer = await app.post(REGISTER, { email: uniqueEmail(), password: PASSWORD, phone });
        expect(expectFailure(answer)).toContain('phone');
      },
    );
  });

  it('[2.3] without registrationFields no column of the application is accepted', async () => {
    const app = await startAuth(platform, { auth: { userClass: Member } });
    const answer = await app.post(REGISTER, { email: uniqueEmail(), password: PASSWORD, phone: '1' });
    expect(expectFailure(answer)).toContain('phone');
    await app.close();
  });
});
