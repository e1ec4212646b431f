/** The second step of logins: one challenge, which each factor of the user answers. */
import { Injectable, UnauthorizedException, type OnModuleInit } from '@nestjs/common';
import { type AuthUser, UserRepository } from 'declarest';
import {
  type AccountChange,
  answers,
  Attempts,
  type EndpointCall,
  hashOf,
  type LoginAnswer,
  type LoginChallenge,
  type LoginContext,
  type LoginDocument,
  Logins,
  OneTimeTokens,
  schemas,
} from 'declarest/plugin';
import { factorLogin, hasGivenFactor } from './given-factor.js';

const CHALLENGE_MS = 5 * 60 * 1000;
const MAX_TRIES = 5;
const PURPOSE = 'factor';

const CHALLENGE = schemas.object(
  {
    mfaRequired: schemas.true,
    challenge: schemas.text,
    passkey: { type: 'object', description: 'The options of the ceremony as JSON (WebAuthn level 3).' },
  },
  ['mfaRequired', 'challenge'],
);

export const STEP_DOCUMENT: LoginDocument = {
  login: (parts) => ({ 200: answers.loginOr('Logged in, or a challenge', parts, CHALLENGE) }),
};

const invalidChallenge = (): UnauthorizedException =>
  new UnauthorizedException('This challenge is not valid, or was used before. Log in again');

/** How a user with a factor gives it. */
export interface FactorStep {
  /** What the client is asked for, such as `use a passkey`. */
  readonly words: string;
  /** Further data of the answer. */
  readonly start?: (challenge: string) => Promise<object>;
}

/** A kind of factor. */
export interface Factor {
  /** The endpoints that set it up. */
  readonly enrolment: readonly string[];
  /** @returns `undefined` for a user without one */
  readonly stepOf: (userId: string) => Promise<FactorStep | undefined>;
}

/** The answer to a challenge. */
export interface StepAnswer {
  readonly challenge: string;
  /** What counts its failures. */
  readonly action: string;
  /** How the user was identified (RFC 8176). */
  readonly method: string;
  /** @throws UnauthorizedException where it is not right */
  readonly check: (userId: string) => Promise<void>;
}

/** For the plugins that ask for a second step. They share it, so that a user with several factors may use any. */
@Injectable()
export class LoginSteps implements OnModuleInit {
  /** Each factor adds itself, when it is constructed. */
  readonly factors: Factor[] = [];
  /** The endpoints that tokens without a required factor open. */
  enrolment: ReadonlySet<string> = new Set();

  constructor(
    private readonly tokens: OneTimeTokens,
    private readonly users: UserRepository,
    private readonly attempts: Attempts,
    private readonly logins: Logins,
  ) {}

  onModuleInit(): void {
    this.enrolment = new Set(['me', 'logout', ...this.factors.flatMap(({ enrolment }) => enrolment)]);
  }

  /** @returns `undefined` where the login has given a factor, or the user has none */
  async begin(user: AuthUser, context: LoginContext): Promise<LoginChallenge | undefined> {
    const steps = await this.stepsOf(user, context);
    if (steps.length === 0) return undefined;
    const userId = String(user.id);
    const data = { userHash: await this.userHashOf(userId) };
    const challenge = await this.tokens.create(PURPOSE, { userId, lifetimeMs: CHALLENGE_MS, data });
    const further: object[] = [];
    for (const { start } of steps) if (start) further.push(await start(challenge));
    const message = steps.map(({ words }) => words).join(', or ');
    return {
      message: `${message.charAt(0).toUpperCase()}${message.slice(1)}`,
      data: Object.assign({ mfaRequired: true, challenge }, ...further) as NonNullable<LoginChallenge['data']>,
    };
  }

  /** @throws 401 for a factor that was set up after `begin`: it has ended the sessions before this one */
  async recheck(user: AuthUser, context: LoginContext): Promise<object> {
    if ((await this.stepsOf(user, context)).length > 0)
      throw new UnauthorizedException('Log in again: a second factor was set up meanwhile');
    return {};
  }

  /** Logs in by the right answer to a challenge, once. @throws 401, 429 */
  async complete(answer: StepAnswer, { request, address }: EndpointCall): Promise<LoginAnswer> {
    const challenge = await this.tokens.find<{ readonly userHash: string }>(answer.challenge, PURPOSE);
    if (!challenge) throw invalidChallenge();
    const { userId: id, data } = challenge;
    await this.attempts.run({ action: answer.action, account: id, address }, async () => {
      if (!(await this.tokens.countTry(challenge, MAX_TRIES))) throw invalidChallenge();
      await answer.check(id);
    });
    // The challenge ends where the password changes.
    const spend = async (): Promise<boolean> =>
      (await this.tokens.spend(challenge)) && (await this.userHashOf(id)) === data.userHash;
    return this.logins.complete({ id, login: factorLogin(answer.method), spend }, request);
  }

  /** Ends the challenges that a change of the account makes void. */
  async onAccountChange(change: AccountChange): Promise<void> {
    const { name, userId } = change;
    const isOfProfile = name === 'user.changed' && change.fields.active !== false && change.fields.role === undefined;
    if (name !== 'user.created' && !isOfProfile) await this.tokens.removeAll(userId, PURPOSE);
  }

  /** The factors of a user whose login has given none. */
  private async stepsOf({ id }: AuthUser, { login, isNew }: LoginContext): Promise<readonly FactorStep[]> {
    if (isNew || hasGivenFactor(login)) return [];
    const steps: FactorStep[] = [];
    for (const { stepOf } of this.factors) steps.push(...[(await stepOf(String(id))) ?? []].flat());
    return steps.toSorted((a, b) => a.words.localeCompare(b.words));
  }

  private async userHashOf(userId: string): Promise<string> {
    const user = await this.users.findWithHash(userId);
    if (!user) throw invalidChallenge();
    return hashOf(user.password);
  }
}
