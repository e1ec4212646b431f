/** The second step of logins: one challenge, which a code or a passkey answers. */
import { Injectable, Optional, UnauthorizedException } from '@nestjs/common';
import type { AuthUser } from 'declarest';
import {
  type AccountChange,
  Attempts,
  type EndpointCall,
  jsonResponse,
  type LoginAnswer,
  type LoginChallenge,
  type LoginContext,
  type LoginDocument,
  Logins,
  MESSAGE,
  openObject,
  TEXT,
  TOKEN,
  TRUE,
} from 'declarest/plugin';
import { CEREMONY } from '../passkeys/passkey-documents.js';
import { Passkeys } from '../passkeys/passkeys.js';
import { FactorChallenges } from './factor-challenges.js';
import { factorLogin, hasGivenFactor } from './given-factor.js';
import { SecondFactors } from './second-factors.js';

const CHALLENGE = openObject({ mfaRequired: TRUE, challenge: TEXT, passkey: CEREMONY }, ['mfaRequired', 'challenge']);

export const STEP_DOCUMENT: LoginDocument = {
  login: ({ identity, members }) => {
    const data = { anyOf: [openObject({ user: identity, ...TOKEN, ...members }), CHALLENGE] };
    return { 200: jsonResponse('Logged in, or a challenge', openObject({ ...MESSAGE, data })) };
  },
};

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
export class LoginSteps {
  constructor(
    private readonly challenges: FactorChallenges,
    private readonly attempts: Attempts,
    private readonly logins: Logins,
    @Optional() private readonly factors?: SecondFactors,
    @Optional() private readonly passkeys?: Passkeys,
  ) {}

  /** @returns `undefined` where the login has given a factor, or the user has none */
  async begin(user: AuthUser, context: LoginContext): Promise<LoginChallenge | undefined> {
    const found = await this.find(user, context);
    if (!found) return undefined;
    const { hasCodes, passkeys } = found;
    const challenge = await this.challenges.create(user);
    const data = { mfaRequired: true, challenge };
    if (passkeys.length === 0) return { message: 'Send a code of the second factor', data };
    const message = hasCodes ? 'Send a code of the second factor, or use a passkey' : 'Use a passkey';
    return { message, data: { ...data, passkey: await this.passkeys?.startStep(challenge, passkeys) } };
  }

  /** @throws 401 for a factor that was set up after `begin`: it has ended the sessions before this one */
  async recheck(user: AuthUser, context: LoginContext): Promise<object> {
    if (await this.find(user, context))
      throw new UnauthorizedException('Log in again: a second factor was set up meanwhile');
    return {};
  }

  /** Logs in by the right answer to a challenge, once. @throws 401, 429 */
  async complete(answer: StepAnswer, { request, address }: EndpointCall): Promise<LoginAnswer> {
    const { challenges } = this;
    const challenge = await challenges.find(answer.challenge);
    const { userId: id } = challenge;
    await this.attempts.run({ action: answer.action, account: id, address }, async () => {
      await challenges.countTry(challenge);
      await answer.check(id);
    });
    const login = factorLogin(answer.method);
    return this.logins.complete({ id, login, spend: () => challenges.spend(challenge) }, request);
  }

  /** Ends the challenges that a change of the account makes void. */
  async follow(change: AccountChange): Promise<void> {
    const { name, userId } = change;
    const isOfProfile = name === 'user.changed' && change.fields.active !== false && change.fields.role === undefined;
    if (name !== 'user.created' && !isOfProfile) await this.challenges.removeAll(userId);
  }

  /** The factors of a user whose login has given none. */
  private async find({ id }: AuthUser, { login, isNew }: LoginContext) {
    if (isNew || hasGivenFactor(login)) return undefined;
    const hasCodes = await this.factors?.isEnabled(id);
    const passkeys = (await this.passkeys?.listForStep(String(id))) ?? [];
    return hasCodes || passkeys.length > 0 ? { hasCodes, passkeys } : undefined;
  }
}
