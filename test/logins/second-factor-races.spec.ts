/** Codes, recovery codes and challenges that are used at once, by two applications with one database. */
import { type AuthSession as Session, AuthSession, UserAccounts } from 'declarest';
import { secondFactor } from 'declarest-logins/second-factor';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { type AuthApp, PASSWORD, startAuth, uniqueEmail } from '../auth/auth-app.js';
import { slowStatements } from '../auth/slow-statements.js';
import { DATABASES } from '../harness/databases.js';
import { AuthenticatorApp } from './authenticator-app.js';

describe.each(DATABASES)('on %s', (database) => {
  let apps: [AuthApp, AuthApp];
  let phone: AuthenticatorApp;
  let id: string | number;
  beforeAll(async () => {
    const auth = { sessions: true, throttle: false as const, plugins: [secondFactor()] };
    const first = await startAuth('fastify', { database, auth });
    const { options } = first.app.get(DataSource);
    const { url, database: name } = options as DataSourceOptions & { url?: string };
    const dataSource = { synchronize: false, ...(url === undefined ? { database: name } : { url }) } as object;
    apps = [first, await startAuth('express', { database, auth, dataSource })];
  });
  afterAll(async () => {
    await apps[1].close();
    await apps[0].close();
  });
  beforeEach(async () => {
    const email = uniqueEmail();
    ({ id } = await apps[0].app.get(UserAccounts, { strict: false }).create({ email, password: PASSWORD }));
    const { json } = await apps[0].post('/api/auth/login', { email, password: PASSWORD });
    phone = new AuthenticatorApp(apps[0], email, json.data.token);
    await phone.enrol();
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  const urlOf = (index: number) => (apps[index % 2] as AuthApp).url;
  const sessionsOf = (userId: string | number): Promise<Session[]> =>
    apps[0].app
      .get(DataSource)
      .getRepository(AuthSession)
      .findBy({ userId: String(userId) });

  /** Two challenges for each application, answered at once. @returns how many answers have each status */
  async function answerAll(codes: readonly string[], count: number, isOneChallenge = false) {
    const shared = await phone.challenge();
    const challenges: string[] = [];
    for (let index = 0; index < count; index += 1)
      challenges.push(isOneChallenge ? shared : await phone.challenge(urlOf(index)));
    slowStatements(apps[0]);
    const answers = await Promise.all(
      challenges.map((challenge, index) => phone.answer(challenge, codes[index % codes.length] ?? '', urlOf(index))),
    );
    const statuses = answers.map(({ status }) => status);
    return Object.fromEntries([...new Set(statuses)].map((each) => [each, statuses.filter((s) => s === each).length]));
  }

  it('a code that is used at once by two applications logs in once', async () => {
    expect(await answerAll([await phone.nextCode()], 2)).toEqual({ 200: 1, 401: 1 });
    expect(await sessionsOf(id)).toHaveLength(1);
  });

  it('of 50 challenges that are answered at once by one code, one logs in', async () => {
    expect(await answerAll([await phone.nextCode()], 50)).toEqual({ 200: 1, 401: 49 });
    expect(await sessionsOf(id)).toHaveLength(1);
  });

  it('one challenge that is answered at once by several right codes logs in once', async () => {
    const codes = [await phone.nextCode(), ...phone.recoveryCodes.slice(0, 4)];
    expect(await answerAll(codes, 5, true)).toEqual({ 200: 1, 401: 4 });
    expect(await sessionsOf(id)).toHaveLength(1);
  });

  it('of 20 wrong codes at once to one challenge, five are compared', async () => {
    const challenge = await phone.challenge();
    slowStatements(apps[0]);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => phone.answer(challenge, '000000', urlOf(index))),
    );
    const compared = answers.filter(({ json }) => json.message === 'This code is not valid, or was used before');
    expect([answers.map(({ status }) => status), compared.length]).toEqual([Array(20).fill(401), 5]);
  });

  it('a recovery code that is used at once logs in once, and others at the same time do too', async () => {
    const [first = '', second = '', third = ''] = phone.recoveryCodes;
    expect(await answerAll([first], 10)).toEqual({ 200: 1, 401: 9 });
    vi.restoreAllMocks();
    expect(await answerAll([second, third], 2)).toEqual({ 200: 2 });
  });

  it('of several confirmations at once, one answers recovery codes', async () => {
    const { token } = await phone.logIn();
    const { secret } = (await phone.post('mfa/enrol', { code: await phone.nextCode() }, token)).json.data;
    const code = await phone.code(0, secret);
    slowStatements(apps[0]);
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) => phone.post('mfa/confirm', { code }, token, urlOf(index))),
    );
    expect(answers.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(1);
  });
});
