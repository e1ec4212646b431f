/**
 * Random sequences of logins, refreshes, logouts, API keys and time against a model. No spent, ended or foreign token or key
 * is accepted, and no live one is refused.
 */
import * as fc from 'fast-check';
import { AuthSession, UserAccounts } from 'declarest';
import { ApiKey, apiKeys } from 'declarest-logins/api-keys';
import { DataSource } from 'typeorm';
import { PASSWORD, startAuth, uniqueEmail, type AuthApp } from '../auth/auth-app.js';
import { type Answer, request, type RequestOptions } from '../harness/client.js';
import { DATABASES } from '../harness/databases.js';
import { checkSequences, type ModelRun, moveBack, SEQUENCES } from './model.js';

const GRACE_MS = 120_000;
const DAY_MS = 24 * 60 * 60 * 1000;
const LIFETIME_MS = 30 * DAY_MS;
const ABSOLUTE_DAYS = 50;
const MAX_SESSIONS = 3;
const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' };

/** A session as the model knows it. Times are those of the model, which only `wait` moves. */
interface Session {
  readonly id: string;
  readonly user: number;
  /** Every refresh token that was issued, the current one last. */
  readonly tokens: string[];
  readonly accessTokens: string[];
  isLive: boolean;
  rotatedAt: number;
  expiresAt: number;
  readonly endsAt: number;
}

/** A key ends with its user, and not with the session that has created it. */
interface Key {
  readonly id: string;
  readonly user: number;
  readonly text: string;
  readonly expiresAt: number;
  isLive: boolean;
}

type Step =
  | { readonly kind: 'login' | 'logoutAll' | 'setPassword' | 'deactivate' | 'activate'; readonly user: number }
  | { readonly kind: 'refresh' | 'logoutByRefresh'; readonly session: number; readonly back: number }
  | { readonly kind: 'logout' | 'forge'; readonly session: number }
  | { readonly kind: 'end'; readonly session: number; readonly user: number }
  | { readonly kind: 'createKey'; readonly session: number; readonly lifetime: number | undefined }
  | { readonly kind: 'deleteKey'; readonly key: number; readonly session: number }
  | { readonly kind: 'wait'; readonly ms: number };

const user = fc.integer({ min: 0, max: 1 });
const session = fc.nat(5);
/** Mostly the current token, or the one before it. */
const back = fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, { weight: 3, arbitrary: fc.constant(1) }, fc.nat(3));
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('login' as const), user }) },
  { weight: 10, arbitrary: fc.record({ kind: fc.constant('refresh' as const), session, back }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom('logoutAll', 'setPassword', 'deactivate' as const), user }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('activate' as const), user }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('logoutByRefresh' as const), session, back }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('logout', 'forge' as const), session }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('end' as const), session, user }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('createKey' as const),
      session,
      lifetime: fc.constantFrom(undefined, 100_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('deleteKey' as const), key: fc.nat(3), session }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(50_000, 125_000, LIFETIME_MS / 2) }),
  },
);

const payloadOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { sid: string };

class Run implements ModelRun<Step> {
  private readonly sessions: Session[] = [];
  private readonly keys: Key[] = [];
  private readonly users: { id: number; email: string; isActive: boolean }[] = [];
  private now = 0;

  constructor(
    private readonly app: AuthApp,
    private readonly cookie: boolean,
  ) {}

  async begin(): Promise<void> {
    for (let index = 0; index < 2; index += 1) {
      const email = uniqueEmail();
      const answer = await this.app.post('/api/auth/register', { email, password: PASSWORD });
      this.users.push({ id: (answer.json.data as { user: { id: number } }).user.id, email, isActive: true });
      this.started(index, this.tokensOf(answer));
    }
  }

  async take(each: Step): Promise<void> {
    switch (each.kind) {
      case 'login':
        return this.login(each.user);
      case 'refresh':
        return this.refresh(this.at(each.session), each.back);
      case 'forge':
        return this.forge(this.at(each.session));
      case 'logoutByRefresh': {
        const found = this.at(each.session);
        await this.expectStatus('logout', this.carry(tokenOf(found, each.back)), 204);
        found.isLive = false;
        return;
      }
      case 'logout': {
        const found = this.at(each.session);
        await this.expectStatus('logout', { headers: SAME_ORIGIN, token: found.accessTokens.at(-1) ?? '' }, 204);
        found.isLive = false;
        return;
      }
      case 'end': {
        const found = this.at(each.session);
        const by = this.firstOf(each.user);
        const isOwn = found.user === each.user && this.isValid(found) && this.isValid(by);
        const token = by.accessTokens[0] ?? '';
        const answer = await request(this.app.url, 'DELETE', `/api/auth/sessions/${found.id}`, { token });
        expect([each, answer.status]).toEqual([each, isOwn ? 204 : this.isValid(by) ? 404 : 401]);
        if (isOwn) found.isLive = false;
        return;
      }
      case 'createKey':
        return this.createKey(this.at(each.session), each.lifetime);
      case 'deleteKey':
        return this.deleteKey(this.keys[each.key % this.keys.length], this.at(each.session));
      case 'wait':
        return this.wait(each.ms);
      case 'logoutAll': {
        const by = this.firstOf(each.user);
        const isAccepted = this.isValid(by);
        await this.expectStatus('logout-all', { token: by.accessTokens[0] ?? '' }, isAccepted ? 204 : 401);
        if (isAccepted) this.endAll(each.user);
        return;
      }
      case 'setPassword':
        await this.accounts.setPassword(this.users[each.user]?.id ?? 0, PASSWORD);
        return this.endAll(each.user);
      case 'deactivate':
        return this.setActive(each.user, false);
      case 'activate':
        return this.setActive(each.user, true);
    }
  }

  /** Each key, and the current token of each session, twice: a live one is accepted, and nothing else is. */
  async finish(): Promise<void> {
    for (const each of this.keys) {
      const { status, json } = await this.app.get('/who', { token: each.text });
      const id = this.isKeyLive(each) ? this.users[each.user]?.id : undefined;
      expect([each, status, json.user?.id]).toEqual([each, 200, id]);
    }
    for (const each of this.sessions) {
      await this.refresh(each, 0);
      await this.refresh(each, 0);
    }
  }

  private async login(index: number): Promise<void> {
    const { email, isActive } = this.users[index] as (typeof this.users)[0];
    const answer = await this.app.post('/api/auth/login', { email, password: PASSWORD });
    expect(answer.status).toBe(isActive ? 200 : 401);
    if (isActive) this.started(index, this.tokensOf(answer));
  }

  private async refresh(found: Session, steps: number): Promise<void> {
    const token = tokenOf(found, steps);
    const answer = await request(this.app.url, 'POST', '/api/auth/refresh', this.carry(token));
    const { status } = answer;
    const position = found.tokens.indexOf(token);
    const isCurrent = position === found.tokens.length - 1;
    const mayRepeat = position === found.tokens.length - 2 && this.now - found.rotatedAt < GRACE_MS;
    const isAccepted = this.isValid(found) && (isCurrent || mayRepeat);
    const context = { isCurrent, mayRepeat, isLive: found.isLive, position, of: found.tokens.length };
    expect([context, status]).toEqual([context, isAccepted ? 200 : 401]);
    if (!isAccepted) {
      found.isLive = false;
      return;
    }
    const data = this.tokensOf(answer);
    found.accessTokens.push(data.token);
    if (isCurrent) {
      expect(found.tokens).not.toContain(data.refreshToken);
      found.tokens.push(data.refreshToken);
      Object.assign(found, { rotatedAt: this.now, expiresAt: this.now + LIFETIME_MS });
    } else {
      expect(data.refreshToken).toBe(found.tokens.at(-1));
    }
  }

  private async createKey(by: Session, lifetime: number | undefined): Promise<void> {
    const expiresAt = lifetime === undefined ? null : new Date(Date.now() + lifetime).toISOString();
    const token = by.accessTokens.at(-1) ?? '';
    const { status, json } = await this.app.post(
      '/api/auth/keys',
      { password: PASSWORD, name: 'key', expiresAt },
      { token },
    );
    expect([by, status]).toEqual([by, this.isValid(by) ? 201 : 401]);
    if (status !== 201) return;
    const { id, key } = json.data as { id: string; key: string };
    this.keys.push({ id, user: by.user, text: key, expiresAt: this.now + (lifetime ?? Infinity), isLive: true });
  }

  /** An access token outlives its session, and opens no endpoint of accounts then. */
  private async deleteKey(key: Key | undefined, by: Session): Promise<void> {
    if (!key) return;
    const token = by.accessTokens.at(-1) ?? '';
    const { status } = await request(this.app.url, 'DELETE', `/api/auth/keys/${key.id}`, { token });
    if (!this.isValid(by)) return expect([by, status]).toEqual([by, 401]);
    const isOwn = key.user === by.user;
    // The row of an expired key may still exist.
    if (!isOwn || this.isKeyLive(key)) expect([key, by, status]).toEqual([key, by, isOwn ? 204 : 404]);
    if (isOwn) key.isLive = false;
  }

  private readonly isKeyLive = (key: Key): boolean => key.isLive && key.expiresAt > this.now;

  /** A token that was not issued here ends nothing. */
  private async forge(found: Session): Promise<void> {
    const bytes = Buffer.from(found.tokens.at(-1) ?? '', 'base64url');
    bytes.writeUInt8((bytes[30] ?? 0) ^ 4, 30);
    await this.expectStatus('refresh', this.carry(bytes.toString('base64url')), 401);
  }

  /** Rows are moved back in time. */
  private async wait(ms: number): Promise<void> {
    this.now += ms;
    await moveBack(this.app, 'declarest_auth_session', ['rotatedAt', 'expiresAt', 'lastUsedAt', 'createdAt'], ms);
    await moveBack(this.app, 'declarest_api_key', ['expiresAt'], ms);
  }

  private async setActive(index: number, isActive: boolean): Promise<void> {
    const found = this.users[index] as (typeof this.users)[0];
    await this.accounts.setActive(found.id, isActive);
    found.isActive = isActive;
    if (isActive) return;
    this.endAll(index);
    for (const each of this.keys) if (each.user === index) each.isLive = false;
  }

  private async expectStatus(path: string, options: RequestOptions, status: number): Promise<void> {
    const answer = await request(this.app.url, 'POST', `/api/auth/${path}`, options);
    expect([path, answer.status]).toEqual([path, status]);
  }

  private carry(refreshToken: string): RequestOptions {
    return this.cookie
      ? { headers: { ...SAME_ORIGIN, cookie: `__Host-declarest-refresh=${refreshToken}` } }
      : { json: { refreshToken } };
  }

  private tokensOf({ json, headers }: Answer): Tokens {
    const { token, refreshToken } = json.data as Partial<Tokens>;
    const set = /^__Host-declarest-refresh=([\w-]+);/.exec(headers['set-cookie'] ?? '')?.[1];
    expect([refreshToken === undefined, set === undefined]).toEqual([this.cookie, !this.cookie]);
    return { token: token ?? '', refreshToken: refreshToken ?? set ?? '' };
  }

  private started(index: number, { token, refreshToken }: Tokens): void {
    this.sessions.push({
      id: payloadOf(token).sid,
      user: index,
      tokens: [refreshToken],
      accessTokens: [token],
      isLive: true,
      rotatedAt: -Infinity,
      expiresAt: this.now + LIFETIME_MS,
      endsAt: this.now + ABSOLUTE_DAYS * DAY_MS,
    });
    const live = this.sessions.filter((each) => each.user === index && this.isValid(each));
    for (const each of live.slice(0, -MAX_SESSIONS)) each.isLive = false;
  }

  private endAll(index: number): void {
    for (const each of this.sessions) if (each.user === index) each.isLive = false;
  }

  private firstOf(user: number): Session {
    return this.sessions.find((own) => own.user === user) as Session;
  }

  private at(index: number): Session {
    return this.sessions[index % this.sessions.length] as Session;
  }

  private readonly isValid = (each: Session): boolean =>
    each.isLive && Math.min(each.expiresAt, each.endsAt) > this.now;

  private get accounts(): UserAccounts {
    return this.app.app.get(UserAccounts, { strict: false });
  }
}

interface Tokens {
  readonly token: string;
  readonly refreshToken: string;
}

const tokenOf = ({ tokens }: Session, steps: number): string => tokens[Math.max(0, tokens.length - 1 - steps)] ?? '';

describe.each([false, true])('with `cookie: %s`', (cookie) => {
  it.each(DATABASES)(
    `${SEQUENCES} random sequences agree with the model, on %s`,
    async (database) => {
      const sessions = { maxSessions: MAX_SESSIONS, absoluteDays: ABSOLUTE_DAYS, cookie };
      const app = await startAuth('fastify', { database, auth: { sessions, plugins: [apiKeys()], throttle: false } });
      const start = async () => {
        const dataSource = app.app.get(DataSource, { strict: false });
        for (const table of [AuthSession, ApiKey]) await dataSource.getRepository<object>(table).clear();
        return new Run(app, cookie);
      };
      const count = cookie ? Math.ceil(SEQUENCES / 10) : SEQUENCES;
      await checkSequences(database, { step, length: { minLength: 1, maxLength: 16 }, count, start });
      await app.close();
    },
    3_600_000,
  );
});
