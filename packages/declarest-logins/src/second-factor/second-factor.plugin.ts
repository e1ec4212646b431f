/** A second step of logins: a code of an authenticator app, or a recovery code. */
import {
  accountEndpoint,
  AuthenticationRequired,
  authFailure,
  type AuthPlugin,
  type AuthServices,
  dataAnswer,
  type Endpoint,
  type EndpointCall,
  limitByAddress,
  LIMITED,
  readTexts,
  TEXT,
  TOKEN,
  unauthorizedOr,
} from 'declarest/plugin';
import { endsWaysIn } from '../taken-back.js';
import { readCode, wrongCode } from './codes.js';
import { FactorChallenges } from './factor-challenges.js';
import { FactorSecrets } from './factor-secrets.js';
import { FACTOR_SETTINGS, readSettings } from './factor-settings.js';
import { FactorChallenge, SecondFactor } from './factor-tables.js';
import { LimitedTokens } from './limited-tokens.js';
import { LoginSteps, STEP_DOCUMENT } from './login-steps.js';
import { SecondFactors } from './second-factors.js';
import { Totp } from './totp.js';

const CODE = { ...TEXT, description: 'Of the authenticator app, or a recovery code.', examples: ['492039'] };
const RECOVERY_CODES = { recoveryCodes: { type: 'array', items: TEXT } };
const WRONG_CODE = {
  ...unauthorizedOr('The token or the code is not valid.', wrongCode().message),
  ...LIMITED,
};
const CONFLICT = { 409: authFailure('The enrolment is another one.', 'There is no enrolment to confirm') };

/** Runs what checks a code, and counts failures for the account. What cannot be a code is 400 before any query. */
function withCode<R>(
  { attempts }: AuthServices,
  { user, address }: Pick<EndpointCall, 'user' | 'address'>,
  code: string,
  work: (userId: string, code: string) => Promise<R>,
): Promise<R> {
  const read = readCode(code);
  const account = String(user().id);
  return attempts.run({ action: 'factor', account, address }, () => work(account, read));
}

const ENDPOINTS: readonly Endpoint[] = [
  accountEndpoint({
    name: 'enrolFactor',
    route: 'POST mfa/enrol',
    needsProof: 'factor',
    summary: 'Begin to set up a second factor',
    description: 'A factor that the user has counts until the new one is confirmed.',
    answers: { 200: dataAnswer('For the authenticator app', { uri: TEXT, secret: TEXT }), ...CONFLICT },
    async run({ get, users }, { user, proof }) {
      const found = await users.findById(String(user().id));
      if (!found) throw new AuthenticationRequired(true);
      const data = await get(SecondFactors).enrol(found, proof?.isFactor === true);
      return { success: true, message: 'Confirm the second factor by a code', data };
    },
  }),
  accountEndpoint({
    name: 'confirmFactor',
    route: 'POST mfa/confirm',
    texts: { code: CODE },
    summary: 'Confirm the second factor',
    description: 'Ends all sessions. Each recovery code is good for one login.',
    answers: { 200: dataAnswer('Logins need a code now', RECOVERY_CODES), ...WRONG_CODE, ...CONFLICT },
    async run(services, call) {
      const factors = services.get(SecondFactors);
      const confirm = (userId: string, code: string) => factors.confirm(userId, code);
      const recoveryCodes = await withCode(services, call, call.body.code, confirm);
      return { success: true, message: 'Second factor enabled. Log in again', data: { recoveryCodes } };
    },
  }),
  accountEndpoint({
    name: 'disableFactor',
    route: 'POST mfa/disable',
    status: 204,
    texts: { code: CODE },
    summary: 'Remove the second factor',
    description: 'Ends all sessions.',
    answers: WRONG_CODE,
    async run(services, call) {
      const factors = services.get(SecondFactors);
      await withCode(services, call, call.body.code, async (userId, code) => {
        await factors.use(userId, code);
        await factors.remove(userId);
      });
    },
  }),
  accountEndpoint({
    name: 'renewRecoveryCodes',
    route: 'POST mfa/codes',
    texts: { code: CODE },
    summary: 'Get new recovery codes',
    description: 'Those before are not valid any more.',
    answers: { 200: dataAnswer('The new codes', RECOVERY_CODES), ...WRONG_CODE },
    async run(services, call) {
      const factors = services.get(SecondFactors);
      const recoveryCodes = await withCode(services, call, call.body.code, async (userId, code) => {
        await factors.use(userId, code);
        return factors.renewCodes(userId);
      });
      return { success: true, message: 'New recovery codes', data: { recoveryCodes } };
    },
  }),
  accountEndpoint({
    name: 'answerChallenge',
    route: 'POST mfa/challenge',
    access: 'public',
    texts: { challenge: TEXT, code: CODE },
    limit: 'challenge',
    summary: 'Give the second factor of a login',
    answers: ({ identity, members }) => ({
      200: dataAnswer('Logged in', { user: identity, ...TOKEN, ...members }),
      401: authFailure('The challenge or the code is not valid.', wrongCode().message),
    }),
    async run({ get }, call) {
      const { challenge } = call.body;
      const code = readCode(call.body.code);
      const check = (userId: string) => get(SecondFactors).use(userId, code);
      return get(LoginSteps).complete({ challenge, action: 'factor', method: 'otp', check }, call);
    },
  }),
];

export interface SecondFactorOptions {
  /** The name of the application in the authenticator app. @default the host of `accountLinks` */
  issuer?: string;
  /**
   * Roles that must have a second factor, roles that include them too, and `USER` for all users. Until a login has given the
   * factor, its tokens are good for the enrolment, `me` and `logout` only; on public routes they count as none.
   * @default []
   */
  required?: readonly string[];
}

/**
 * Logins need a code of an authenticator app (RFC 6238) from users who have set one up, below `{base}/mfa`. Needs the package
 * `otplib`, and the tables of `SecondFactor` and `FactorChallenge`. Secrets are encrypted by a key from `jwtSecret`.
 * @throws InvalidOptionError
 * @example plugins: [secondFactor({ issuer: 'Shop', required: ['ADMIN'] })]
 */
export function secondFactor(options: SecondFactorOptions = {}): AuthPlugin {
  const settings = readSettings(options);
  return {
    name: 'secondFactor',
    tables: [SecondFactor, FactorChallenge],
    providers: [
      { provide: FACTOR_SETTINGS, useValue: settings },
      { provide: Totp, useFactory: () => Totp.load() },
      FactorSecrets,
      SecondFactors,
      FactorChallenges,
      LoginSteps,
      LimitedTokens,
    ],
    endpoints: ENDPOINTS,
    proof: {
      member: 'code',
      schema: CODE,
      isFactor: true,
      has: ({ get }, { id }) => get(SecondFactors).isEnabled(id),
      check: (services, call, sent) =>
        withCode(services, call, readTexts({ code: sent }, ['code']).code, (userId, code) =>
          services.get(SecondFactors).use(userId, code),
        ),
    },
    limits: {
      // Whoever is stopped by it has given the password before: strangers do not lock a user out.
      factor: ({ tries, addressTries }) => ({ account: tries, address: addressTries }),
      challenge: limitByAddress,
    },
    decidesBy: {
      factor: [
        'requires a factor of users who have one',
        ...settings.required.map((role) => `requires a factor of ${role}`),
      ],
    },
    beforeLogin: ({ get }, user, context) => get(LoginSteps).begin(user, context),
    issue: ({ get }, user, context) => get(LoginSteps).recheck(user, context),
    async accountChanged({ get }, change) {
      if (endsWaysIn(change)) await get(SecondFactors).forget(change.userId);
      await get(LoginSteps).follow(change);
    },
    describe: () => STEP_DOCUMENT,
    ...(settings.required.length > 0 && {
      authenticate: ({ get }, request, bearer) => get(LimitedTokens).refusalOf(bearer, request),
    }),
  };
}
