/** Failures of account endpoints name each wrong field in `fields`, except the two bodies that the contract gives. */
import { type Answer, request } from '../harness/client.js';
import { PLATFORMS } from '../harness/platforms.js';
import { type AuthApp, PASSWORD, startAuth, uniqueEmail } from './auth-app.js';
import { UserAccounts } from 'declarest';

const PROBLEM = 'application/problem+json';

describe.each(PLATFORMS)('on %s', (platform) => {
  let app: AuthApp;
  let taken: string;
  let token: string;
  beforeAll(async () => {
    const auth = { sessions: true, passwordReset: true, administration: true, throttle: false } as const;
    app = await startAuth(platform, { auth });
    taken = uniqueEmail();
    await app.app.get(UserAccounts, { strict: false }).create({ email: taken, password: PASSWORD, role: 'ADMIN' });
    token = (await app.post('/api/auth/login', { email: taken, password: PASSWORD })).json.data.token;
  });
  afterAll(() => app.close());

  const wrong = { email: 'no', password: 'short', nickname: 'Ann' };
  const fields = {
    email: 'expected an e-mail address of at most 254 characters',
    password: 'expected at least 8 characters',
    nickname: 'not accepted here',
  };

  it('[2.3] register and login answer with `success` and `message` only', async () => {
    const answers = [
      await app.post('/api/auth/register', wrong),
      await app.post('/api/auth/register', { email: taken, password: PASSWORD }),
      await app.post('/api/auth/login', {}),
      await app.post('/api/auth/login', { email: taken, password: 'not the password' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 401]);
    for (const { json } of answers) expect(json).toEqual({ success: false, message: expect.any(String) });
    expect(answers[1]?.json.message).toBe(`User with email ${taken} already exists`);
  });

  it('[2.3] problem details of register and login have `fields`', async () => {
    const ask = async (path: string, json: object) =>
      (await app.post(`/api/auth/${path}`, json, { headers: { accept: PROBLEM } })).json;
    expect(await ask('register', wrong)).toMatchObject({ type: 'about:blank', status: 400, fields });
    const message = `User with email ${taken} already exists`;
    expect(await ask('register', { email: taken, password: PASSWORD })).toEqual({
      type: 'about:blank',
      title: 'Bad Request',
      status: 400,
      detail: message,
      fields: { email: message },
    });
    expect((await ask('login', {})).fields).toEqual({ email: 'required', password: 'required' });
  });

  const send = (method: string, path: string, json?: object): Promise<Answer> =>
    request(app.url, method, `/api/auth/${path}`, { token, ...(json && { json }) });

  it.each<[method: string, path: string, body: object | undefined, fields: object]>([
    ['PATCH', 'me', { firstName: 7, role: 'ADMIN' }, { firstName: /^expected text/, role: /^not accepted here$/ }],
    ['POST', 'password', { current: PASSWORD }, { new: /^required$/ }],
    ['POST', 'email', { password: PASSWORD, email: 'no' }, { email: /^expected an e-mail/ }],
    ['PATCH', 'users/1', { active: 'no', role: '' }, { active: /^expected/, role: /^expected the name/ }],
    ['GET', 'users?page=0&x=1', undefined, { page: /^not valid$/, x: /^unknown parameter$/ }],
  ])('[2.3] %s %s with %j names them', async (method, path, body, expected) => {
    const { status, json } = await send(method, path, body);
    const patterns = Object.entries(expected).map(([name, pattern]) => [name, expect.stringMatching(pattern)]);
    expect([status, json]).toEqual([
      400,
      { success: false, message: expect.any(String), fields: Object.fromEntries(patterns) },
    ]);
    for (const name of Object.keys(expected)) expect(json.message).toContain(`${name}: `);
  });

  it('[2.3] a value that is taken is named too, and a failure of no field has none', async () => {
    const message = `User with email ${taken} already exists`;
    expect((await send('POST', 'email', { password: PASSWORD, email: taken })).json).toEqual({
      success: false,
      message,
      fields: { email: message },
    });
    const refused = await send('POST', 'password', { current: 'not the password', new: PASSWORD });
    expect([refused.status, refused.json]).toEqual([401, { success: false, message: 'Invalid credentials' }]);
  });
});
