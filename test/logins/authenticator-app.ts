/** The authenticator app of a user, and logins that need its codes. */
import { generate } from 'otplib';
import { type Answer, request } from '../harness/client.js';
import { type AuthApp, PASSWORD } from '../auth/auth-app.js';

const STEP_SECONDS = 30;

export class AuthenticatorApp {
  recoveryCodes: string[] = [];
  secret = '';

  constructor(
    readonly app: Pick<AuthApp, 'url'>,
    readonly email: string,
    public token: string,
  ) {}

  /** @param steps from now: -1 for the code before */
  code(steps = 0, secret = this.secret): Promise<string> {
    return generate({ secret, epoch: Math.floor(Date.now() / 1000) + steps * STEP_SECONDS });
  }

  /** The code of the next time step: the clock of this process, and of the server in it, moves on. */
  nextCode(): Promise<string> {
    vi.setSystemTime(Date.now() + STEP_SECONDS * 1000);
    return this.code();
  }

  post(path: string, json: object, token = this.token, url = this.app.url): Promise<Answer> {
    return request(url, 'POST', `/api/auth/${path}`, { json, token });
  }

  /** @param newCode the first code */
  async enrol(newCode = () => this.nextCode(), proof: object = { password: PASSWORD }): Promise<Answer> {
    const begun = await this.post('mfa/enrol', proof);
    expect([begun.status, begun.text]).toEqual([200, expect.stringContaining('secret')]);
    this.secret = begun.json.data.secret;
    const confirmed = await this.post('mfa/confirm', { code: await newCode() });
    expect([confirmed.status, confirmed.text]).toEqual([200, expect.stringContaining('recoveryCodes')]);
    this.recoveryCodes = confirmed.json.data.recoveryCodes;
    return confirmed;
  }

  login(url = this.app.url): Promise<Answer> {
    return request(url, 'POST', '/api/auth/login', { json: { email: this.email, password: PASSWORD } });
  }

  /** The challenge of a login. */
  async challenge(url = this.app.url): Promise<string> {
    const { status, json } = await this.login(url);
    expect([status, json.data]).toEqual([200, { mfaRequired: true, challenge: expect.any(String) }]);
    return json.data.challenge;
  }

  answer(challenge: string, code: string, url = this.app.url): Promise<Answer> {
    return request(url, 'POST', '/api/auth/mfa/challenge', { json: { challenge, code } });
  }

  /** Logs in with both steps, and keeps the token. */
  async logIn(): Promise<{ token: string; refreshToken: string }> {
    const challenge = await this.challenge();
    const { status, text, json } = await this.answer(challenge, await this.nextCode());
    expect([status, text]).toEqual([200, expect.stringContaining('"token"')]);
    this.token = json.data.token;
    return json.data;
  }
}

export const payloadOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
