/**
 * Random sequences of logins, codes, enrolments and time against a model of second factors. No code and no challenge counts
 * twice, and what is right is accepted.
 */
import * as fc from 'fast-check';
import { UserAccounts } from 'declarest';
import { secondFactor } from 'declarest-logins/second-factor';
import { type AuthApp, PASSWORD, startAuth, uniqueEmail } from '../auth/auth-app.js';
import { DATABASES } from '../harness/databases.js';
import { AuthenticatorApp, payloadOf } from '../logins/authenticator-app.js';
import { checkSequences, type ModelRun, moveBack, SEQUENCES } from './model.js';

/** A sequence takes about ten times as long as one of the sessions. */
const COUNT = Math.ceil(SEQUENCES / 10);
const STEP_MS = 30_000;
const LIFETIME_MS = 5 * 60_000;
const MAX_TRIES = 5;
/** A recovery code that nobody has. */
const NO_CODE = 'a'.repeat(24);

interface User {
  readonly id: number;
  readonly phone: AuthenticatorApp;
  isActive: boolean;
  /** Whether the session of the present token goes on. */
  hasSession: boolean;
  hasFactor: boolean;
  lastStep: number;
  lastCode: string;
  readonly spent: string[];
  refreshToken: string | undefined;
  amr: unknown;
}

interface Challenge {
  readonly value: string;
  readonly user: User;
  readonly expiresAt: number;
  tries: number;
  isLive: boolean;
}

const KINDS = [
  'present',
  'present',
  'before',
  'after',
  'old',
  'repeated',
  'recovery',
  'recovery',
  'spent',
  'spent',
  'wrong',
  'wrong',
] as const;
const user = fc.integer({ min: 0, max: 1 });
const kind = fc.constantFrom(...KINDS);
/** Mostly the last one. */
const back = fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(3) });
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ name: fc.constant('login' as const), user }) },
  {
    weight: 14,
    arbitrary: fc.record({ name: fc.constant('answer' as const), user, isFresh: fc.boolean(), back, kind }),
  },
  { weight: 2, arbitrary: fc.record({ name: fc.constant('enrol' as const), user }) },
  { weight: 1, arbitrary: fc.record({ name: fc.constant('disable' as const), user, kind }) },
  { weight: 2, arbitrary: fc.record({ name: fc.constant('refresh' as const), user }) },
  { weight: 3, arbitrary: fc.record({ name: fc.constantFrom('setPassword', 'toggle', 'toggle' as const), user }) },
  {
    weight: 3,
    arbitrary: fc.record({ name: fc.constant('wait' as const), ms: fc.constantFrom(STEP_MS, LIFETIME_MS) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

class Run implements ModelRun<Step> {
  private readonly users: User[] = [];
  private readonly challenges: Challenge[] = [];

  constructor(private readonly app: AuthApp) {}

  async begin(): Promise<void> {
    for (let index = 0; index < 2; index += 1) {
      const email = uniqueEmail();
      const data = await this.app.register({ email });
      const phone = new AuthenticatorApp(this.app, email, data.token);
      const { refreshToken } = data as unknown as { refreshToken: string };
      const id = data.user['id'] as number;
      const start = {
        isActive: true,
        hasSession: true,
        hasFactor: false,
        lastStep: 0,
        lastCode: '123456',
        amr: undefined,
      };
      this.users.push({ id, phone, ...start, spent: [], refreshToken });
    }
    for (const each of this.users) await this.enrol(each);
  }

  async take(each: Step): Promise<void> {
    if (each.name === 'wait') return this.wait(each.ms);
    const found = this.users[each.user] as User;
    if (each.name === 'answer') {
      if (each.isFresh) await this.login(found);
      return this.answer(this.challenges.at(-1 - each.back), each.kind);
    }
    if (each.name === 'login') return this.login(found);
    if (each.name === 'enrol') return this.enrol(found);
    if (each.name === 'disable') return this.disable(found, each.kind);
    if (each.name === 'refresh') return this.refresh(found);
    if (each.name === 'setPassword') await this.accounts.setPassword(found.id, PASSWORD);
    else await this.accounts.setActive(found.id, (found.isActive = !found.isActive));
    if (each.name === 'setPassword' || !found.isActive) this.endAll(found);
  }

  private async login(found: User): Promise<void> {
    const { status, json } = await found.phone.login();
    expect(status).toBe(found.isActive ? 200 : 401);
    if (!found.isActive) return;
    expect('challenge' in json.data).toBe(found.hasFactor);
    if (!found.hasFactor) return this.started(found, json.data);
    const value = json.data.challenge as string;
    this.challenges.push({ value, user: found, expiresAt: Date.now() + LIFETIME_MS, tries: 0, isLive: true });
  }

  private async answer(challenge: Challenge | undefined, codeKind: string): Promise<void> {
    if (!challenge) return;
    const { user: owner } = challenge;
    const code = await this.codeOf(owner, codeKind);
    const mayTry = challenge.isLive && challenge.expiresAt > Date.now() && challenge.tries < MAX_TRIES;
    const isAccepted = mayTry && (await this.spend(owner, code));
    const { status, json } = await owner.phone.answer(challenge.value, code);
    expect([codeKind, mayTry, status]).toEqual([codeKind, mayTry, isAccepted ? 200 : 401]);
    if (mayTry) challenge.tries += 1;
    if (!isAccepted) return;
    challenge.isLive = false;
    this.started(owner, json.data);
  }

  private async enrol(found: User): Promise<void> {
    const { phone } = found;
    const begun = await phone.post('mfa/enrol', { password: PASSWORD });
    expect(begun.status).toBe(found.hasSession ? (found.hasFactor ? 400 : 200) : 401);
    if (begun.status !== 200) return;
    phone.secret = begun.json.data.secret;
    found.lastStep = 0;
    const code = await phone.code();
    const confirmed = await phone.post('mfa/confirm', { code });
    expect(confirmed.status).toBe(200);
    Object.assign(found, { hasFactor: true, lastStep: presentStep(), lastCode: code });
    phone.recoveryCodes = confirmed.json.data.recoveryCodes;
    this.endAll(found);
  }

  private async disable(found: User, codeKind: string): Promise<void> {
    const code = await this.codeOf(found, codeKind);
    // A token whose session has ended spends no code.
    const isAccepted = found.hasSession && (await this.spend(found, code));
    const { status } = await found.phone.post('mfa/disable', { code });
    expect([codeKind, status]).toEqual([codeKind, isAccepted ? 204 : 401]);
    if (!isAccepted) return;
    found.hasFactor = false;
    this.endAll(found);
  }

  private async refresh(found: User): Promise<void> {
    if (found.refreshToken === undefined) return;
    const { status, json } = await this.app.post('/api/auth/refresh', { refreshToken: found.refreshToken });
    expect(status).toBe(200);
    expect(payloadOf(json.data.token).amr).toEqual(found.amr);
    found.refreshToken = json.data.refreshToken;
  }

  /** Whether the model accepts a code, which counts as used then. */
  private async spend(found: User, code: string): Promise<boolean> {
    const { phone } = found;
    if (!found.hasFactor) return false;
    if (code.length > 6) {
      const index = phone.recoveryCodes.indexOf(code);
      if (index >= 0) found.spent.push(...phone.recoveryCodes.splice(index, 1));
      return index >= 0;
    }
    for (const steps of [-1, 0, 1])
      if ((await phone.code(steps)) === code && presentStep() + steps > found.lastStep) {
        Object.assign(found, { lastStep: presentStep() + steps, lastCode: code });
        return true;
      }
    return false;
  }

  private async codeOf({ phone, spent, lastCode }: User, codeKind: string): Promise<string> {
    const steps = { present: 0, before: -1, after: 1, old: -2 }[codeKind];
    if (steps !== undefined && phone.secret !== '') return phone.code(steps);
    if (codeKind === 'repeated') return lastCode;
    if (codeKind === 'recovery') return phone.recoveryCodes[0] ?? NO_CODE;
    return codeKind === 'spent' ? (spent[0] ?? NO_CODE) : '000000';
  }

  private async wait(ms: number): Promise<void> {
    vi.setSystemTime(Date.now() + ms);
    await moveBack(this.app, 'declarest_one_time_token', ['expiresAt'], ms);
  }

  private started(found: User, { token, refreshToken }: { token: string; refreshToken: string }): void {
    const { amr } = payloadOf(token);
    expect(amr).toEqual(found.hasFactor ? ['otp', 'mfa'] : undefined);
    Object.assign(found, { refreshToken, amr, hasSession: true });
    found.phone.token = token;
  }

  private endAll(found: User): void {
    found.refreshToken = undefined;
    found.hasSession = false;
    for (const each of this.challenges) if (each.user === found) each.isLive = false;
  }

  private get accounts(): UserAccounts {
    return this.app.app.get(UserAccounts, { strict: false });
  }
}

const presentStep = (): number => Math.floor(Date.now() / STEP_MS);

describe.each(DATABASES)('second factors on %s', (database) => {
  it(`${COUNT} random sequences agree with the model`, async () => {
    const auth = { sessions: { accessTokenMinutes: 100_000 }, throttle: false as const, plugins: [secondFactor()] };
    const app = await startAuth('fastify', { database, auth });
    // The time stands still within a step of a sequence.
    vi.useFakeTimers({ toFake: ['Date'] });
    const length = { minLength: 4, maxLength: 40, size: 'max' } as const;
    await checkSequences(database, { step, length, count: COUNT, start: () => new Run(app) });
    vi.useRealTimers();
    await app.close();
  }, 3_600_000);
});
