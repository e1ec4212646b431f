/** Codes, challenges, passkeys, responses of providers and keys that two processes with one database get at once. */
import { ExternalIdentity } from 'declarest-logins/oidc';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { PASSWORD, unique, uniqueEmail } from '../auth/auth-app.js';
import { type Answer, request } from '../harness/client.js';
import { DATABASES } from '../harness/databases.js';
import { startTwice, type TwoProcesses } from '../two-processes.js';
import { AuthenticatorApp } from './authenticator-app.js';
import { browse, CLIENT, type IdentityProvider, startProvider } from './identity-provider.js';
import { statusesAfter, statusOf } from './keyed-app.js';
import { ORIGIN, Person, RP_ID } from './passkeys/passkey-app.js';

const REDIRECT_URI = 'https://shop.example/login';
/** As in packages/declarest-logins/src/second-factor/factor-challenges.ts. */
const MAX_TRIES = 5;

describe.each(DATABASES.filter((name) => name !== 'sqlite'))('on %s', (name) => {
  let provider: IdentityProvider;
  let processes: TwoProcesses;
  let urls: TwoProcesses['urls'];
  let dataSource: DataSource;
  beforeAll(async () => {
    provider = await startProvider([REDIRECT_URI]);
    const main = { issuer: provider.issuer, ...CLIENT, redirectUris: [REDIRECT_URI] };
    processes = await startTwice(name, {
      uses: {
        declarest: ['Authenticated', 'mailedLinks'],
        'declarest-logins/api-keys': ['apiKeys'],
        'declarest-logins/oidc': ['oidc'],
        'declarest-logins/passkeys': ['passkeys'],
        'declarest-logins/second-factor': ['secondFactor'],
      },
      auth: `
        sessions: true,
        throttle: false,
        plugins: [
          mailedLinks(),
          apiKeys(),
          secondFactor(),
          passkeys({ rpId: '${RP_ID}', origins: ['${ORIGIN}'] }),
          oidc({ providers: { main: ${JSON.stringify(main)} } }),
        ]`,
      declarations: `
        @Authenticated() @Controller('code') class CodeController { @Get() get() { return {}; } }`,
      module: 'controllers: [CodeController],',
    });
    ({ urls } = processes);
    const options = { ...processes.database.options, synchronize: false, entities: [ExternalIdentity] };
    dataSource = await new DataSource(options as DataSourceOptions).initialize();
  });
  afterAll(async () => {
    await dataSource?.destroy();
    await processes?.end();
    await provider.close();
  });

  const first = (): { url: string } => ({ url: urls[0] });
  const post = (url: string, path: string, json: object, token?: string): Promise<Answer> =>
    request(url, 'POST', `/api/auth/${path}`, { json, ...(token !== undefined && { token }) });

  /** Sends requests to the two processes in turn, all at once. */
  const sendAll = (count: number, send: (url: string, index: number) => Promise<Answer>): Promise<Answer[]> =>
    Promise.all(Array.from({ length: count }, (_, index) => send(urls[index % 2] as string, index)));

  async function withFactor(): Promise<AuthenticatorApp> {
    const email = uniqueEmail();
    const { token } = (await post(urls[0], 'register', { email, password: PASSWORD })).json.data;
    const phone = new AuthenticatorApp(first(), email, token);
    // The clocks of the processes go on by themselves.
    await phone.enrol(() => phone.code());
    return phone;
  }

  /** The sessions that are left of a user who has logged in once. */
  async function sessionsOf(answers: readonly Answer[]): Promise<number> {
    const { token } = answers.find(({ status }) => status === 200)?.json.data ?? {};
    return (await request(urls[1], 'GET', '/api/auth/sessions', { token })).json.data.length;
  }

  describe('second factors', () => {
    it('of 50 challenges that are answered at once by one code, one logs in', async () => {
      const phone = await withFactor();
      const challenges = (await sendAll(50, (url) => phone.login(url))).map(({ json }) => json.data.challenge);
      const code = await phone.code(1);
      const answers = await sendAll(50, (url, index) => phone.answer(challenges[index], code, url));
      expect(countStatuses(answers)).toEqual({ 200: 1, 401: 49 });
      expect(await sessionsOf(answers)).toBe(1);
    });

    it('of 50 right answers at once to one challenge, one logs in', async () => {
      const phone = await withFactor();
      const challenge = await phone.challenge(urls[1]);
      const codes = [await phone.code(1), ...phone.recoveryCodes.slice(0, 4)];
      const answers = await sendAll(50, (url, index) => phone.answer(challenge, codes[index % 5] ?? '', url));
      expect(countStatuses(answers)).toEqual({ 200: 1, 401: 49 });
      expect(await sessionsOf(answers)).toBe(1);
    });

    it('of 50 wrong answers at once to one challenge, five are compared, and then no right one counts', async () => {
      const phone = await withFactor();
      const challenge = await phone.challenge();
      const answers = await sendAll(50, (url) => phone.answer(challenge, '000000', url));
      expect(countStatuses(answers)).toEqual({ 401: 50 });
      const isCompared = ({ json }: Answer) => json.message === 'This code is not valid, or was used before';
      expect(answers.filter(isCompared)).toHaveLength(MAX_TRIES);
      expect((await phone.answer(challenge, await phone.code(1))).status).toBe(401);
      // It was not used up by that.
      expect((await phone.answer(await phone.challenge(urls[1]), await phone.code(1), urls[1])).status).toBe(200);
    });

    it('a recovery code that is used at once logs in once', async () => {
      const phone = await withFactor();
      const challenges = (await sendAll(20, (url) => phone.login(url))).map(({ json }) => json.data.challenge);
      const [code = ''] = phone.recoveryCodes;
      const answers = await sendAll(20, (url, index) => phone.answer(challenges[index], code, url));
      expect(countStatuses(answers)).toEqual({ 200: 1, 401: 19 });
      expect(await sessionsOf(answers)).toBe(1);
    });
  });

  describe('passkeys', () => {
    it.each([0, 1])('an assertion that is replayed at once logs in once, with the counter %i', async (counter) => {
      const ann = new Person(first());
      ann.device.counter = counter;
      expect((await ann.register()).status).toBe(201);
      const credential = await ann.assertion();
      const answers = await sendAll(20, (url) => post(url, 'passkeys/login', { credential }));
      expect(countStatuses(answers)).toEqual({ 200: 1, 401: 19 });
      // That of the registration is the other one.
      expect(await sessionsOf(answers)).toBe(2);
    });
  });

  describe('logins at a provider', () => {
    /** @returns the response of the provider to a login of the subject, which the client has not sent yet */
    async function respond(subject: string, begunAt = urls[0]): Promise<object> {
      provider.accounts.set(subject, { email: `${subject}@shop.example`, email_verified: true });
      const { url, verifier } = (await post(begunAt, 'oidc/main', {})).json.data;
      return { url: await browse(url, subject), verifier };
    }
    const exchanges = (): number => provider.requests.filter((each) => each === 'POST /token').length;
    const countPeople = async (email: string): Promise<number> => {
      const rows: { email: string }[] = await dataSource.query('SELECT email FROM people');
      return rows.filter((row) => row.email === email).length;
    };

    it('a response that is replayed at once logs in once, and its code is exchanged once', async () => {
      const response = await respond(unique('member'));
      const before = exchanges();
      const answers = await sendAll(20, (url) => post(url, 'oidc', response));
      expect(countStatuses(answers)).toEqual({ 200: 1, 401: 19 });
      expect(exchanges() - before).toBe(1);
    });

    it('of first logins at once of one identity, one creates the user, and all are of that user', async () => {
      for (let round = 0; round < 5; round += 1) {
        const subject = unique('member');
        const responses: object[] = [];
        for (let index = 0; index < 6; index += 1) responses.push(await respond(subject, urls[index % 2]));
        const answers = await sendAll(6, (url, index) => post(url, 'oidc', responses[index] ?? {}));
        expect(countStatuses(answers)).toEqual({ 200: 6 });
        expect(new Set(answers.map(({ json }) => json.data.user.id)).size).toBe(1);
        expect(await countPeople(`${subject}@shop.example`)).toBe(1);
        expect(await dataSource.getRepository(ExternalIdentity).countBy({ subject })).toBe(1);
      }
    });
  });

  describe('API keys', () => {
    it('a key that is deleted on one process while both use it is refused by both from then on', async () => {
      const json = { email: uniqueEmail(), password: PASSWORD };
      const { token } = (await post(urls[0], 'register', json)).json.data;
      const apps = urls.map((url) => ({ url }));
      for (let round = 0; round < 5; round += 1) {
        const { key, id } = (await post(urls[1], 'keys', { password: PASSWORD, name: 'backup' }, token)).json.data;
        const after = await statusesAfter(apps, key, '/code', () =>
          request(urls[0], 'DELETE', `/api/auth/keys/${id}`, { token }),
        );
        expect(after).toEqual([401]);
        expect(await Promise.all(apps.map((app) => statusOf(app, key, '/code')))).toEqual([401, 401]);
      }
    });
  });
});

function countStatuses(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
