/** An application with passkeys, and what clients of it do. */
import { type AuthOptions, UserAccounts } from 'declarest';
import { type Passkey as Row, Passkey, passkeys } from 'declarest-logins/passkeys';
import { DataSource } from 'typeorm';
import { type AuthApp, type AuthAppOptions, PASSWORD, startAuth, uniqueEmail } from '../../auth/auth-app.js';
import { type Answer, request, type RequestOptions } from '../../harness/client.js';
import type { Platform } from '../../harness/platforms.js';
import { type Forgery, SoftwareAuthenticator } from './software-authenticator.js';

export const RP_ID = 'shop.example';
export const ORIGIN = `https://${RP_ID}`;
export const PASSKEYS = passkeys({ rpId: RP_ID, origins: [ORIGIN, `https://admin.${RP_ID}`] });

export const startPasskeyApp = (platform: Platform, auth: Partial<AuthOptions> = {}, more: AuthAppOptions = {}) =>
  startAuth(platform, { ...more, auth: { sessions: true, plugins: [PASSKEYS], ...auth } });

type AnswerCheck = (method: string, path: string, answer: Answer) => void;

/** A person with an authenticator. */
export class Person {
  readonly device = new SoftwareAuthenticator(ORIGIN);
  email = uniqueEmail();
  token: string | undefined;

  /** @param check compares each answer with the document */
  constructor(
    private readonly app: Pick<AuthApp, 'url'>,
    private readonly check?: AnswerCheck,
  ) {}

  async send(method: string, path: string, json?: unknown): Promise<Answer> {
    const options: RequestOptions = { ...(json !== undefined && { json }), ...(this.token && { token: this.token }) };
    const answer = await request(this.app.url, method, `/api/auth/${path}`, options);
    this.check?.(method, `/api/auth/${path}`, answer);
    return answer;
  }

  post = (path: string, json?: unknown): Promise<Answer> => this.send('POST', path, json);

  /** Registers by a password, in place of a passkey. */
  async registerByPassword(): Promise<this> {
    this.token = (await this.post('register', { email: this.email, password: PASSWORD })).json.data.token;
    return this;
  }

  async register(fields: object = {}, forged?: Forgery): Promise<Answer> {
    const { json } = await this.post('passkeys/register/options', { email: this.email });
    const credential = this.device.create(json.data, forged);
    const answer = await this.post('passkeys/register', { credential, email: this.email, ...fields });
    this.token = answer.json.data?.token;
    return answer;
  }

  async loginOptions() {
    return (await this.post('passkeys/login/options')).json.data;
  }

  async assertion(forged?: Forgery) {
    return this.device.get(await this.loginOptions(), forged);
  }

  async logIn(forged?: Forgery): Promise<Answer> {
    return this.post('passkeys/login', { credential: await this.assertion(forged) });
  }

  async confirmation(forged?: Forgery) {
    return this.device.get((await this.post('passkeys/confirm/options')).json.data, forged);
  }

  async add(confirmation: object = { password: PASSWORD }, fields: object = {}, forged?: Forgery): Promise<Answer> {
    const { status, json, text } = await this.post('passkeys/options', confirmation);
    if (status !== 200) throw new Error(`passkeys/options answered ${status} ${text}`);
    return this.post('passkeys', { credential: this.device.create(json.data, forged), ...fields });
  }

  async id(): Promise<string> {
    return String((await this.send('GET', 'me')).json.data.user.id);
  }

  async list(): Promise<{ id: string; name: string; lastUsedAt: string | null }[]> {
    return (await this.send('GET', 'passkeys')).json.data;
  }
}

export const accountsOf = ({ app }: AuthApp): UserAccounts => app.get(UserAccounts, { strict: false });
export const rowsOf = ({ app }: AuthApp): Promise<Row[]> =>
  app.get(DataSource, { strict: false }).getRepository(Passkey).find();
