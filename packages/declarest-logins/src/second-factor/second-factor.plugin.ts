/** A second step of logins: a code of an authenticator app, or a recovery code. */
import { OneTimeToken } from 'declarest';
import {
  accountEndpoint,
  answers,
  AuthenticationRequired,
  type AuthPlugin,
  AuthServices,
  checkBody,
  checks,
  type Endpoint,
  type EndpointCall,
  schemas,
} from 'declarest/plugin';
import { readCode, wrongCode } from './codes.js';
import { FactorSecrets } from './factor-secrets.js';
import { FACTOR_SETTINGS, readSettings } from './factor-settings.js';
import { SecondFactor } from './factor-tables.js';
import { refuseBeforeEnrolment } from './enrolment-only-tokens.js';
import { LoginSteps, STEP_DOCUMENT } from '../login-steps/login-steps.js';
import { SecondFactors } from './second-factors.js';
import { Totp } from './totp.js';
import { endsWaysIn } from '../ways-in.js';

const CODE = { ...schemas.text, description: 'Of the authenticator app, or a recovery code.', examples: ['492039'] };
const ENROLMENT = { uri: schemas.text, secret: schemas.text };
const RECOVERY_CODES = { recoveryCodes: { type: 'array', items: schemas.text } };
const WRONG_CODE = {
  ...answers.unauthorizedOr('The token or the code is not valid.', wrongCode().message),
  ...answers.limited,
};
const CONFLICT = { 409: answers.failure('The enrolment is another one.', 'There is no enrolment to confirm') };

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
    answers: { 200: answers.data('For the authenticator app', ENROLMENT), ...CONFLICT },
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
    answers: { 200: answers.data('Logins need a code now', RECOVERY_CODES), ...WRONG_CODE, ...CONFLICT },
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
    answers: { 200: answers.data('The new codes', RECOVERY_CODES), ...WRONG_CODE },
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
    texts: { challenge: schemas.text, code: CODE },
    limit: 'challenge',
    summary: 'Give the second factor of a login',
    answers: (parts) => ({
      200: answers.login('Logged in', parts),
      401: answers.failure('The challenge or the code is not valid.', wrongCode().message),
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
 * Logins need a code of an authenticator app (RFC 6238) from users who have set one up, below `{base}/mfa`. Needs the tables of
 * `SecondFactor` and `OneTimeToken`. Secrets are encrypted by a key from `jwtSecret`.
 * @throws InvalidOptionError
 * @example plugins: [secondFactor({ issuer: 'Shop', required: ['ADMIN'] })]
 */
export function secondFactor(options: SecondFactorOptions = {}): AuthPlugin {
  const settings = readSettings(options);
  return {
    name: 'secondFactor',
    tables: [SecondFactor, OneTimeToken],
    providers: [{ provide: FACTOR_SETTINGS, useValue: settings }, Totp, FactorSecrets, SecondFactors, LoginSteps],
    endpoints: ENDPOINTS,
    proof: {
      member: 'code',
      schema: CODE,
      isFactor: true,
      has: ({ get }, { id }) => get(SecondFactors).isEnabled(id),
      check(services, call, sent) {
        const { code } = checkBody({ code: sent }, { code: checks.text }, ['code']);
        return withCode(services, call, String(code), (userId, read) => services.get(SecondFactors).use(userId, read));
      },
    },
    limits: {
      // Whoever is stopped by it has given the password before: strangers do not lock a user out.
      factor: ({ tries, addressTries }) => ({ account: tries, address: addressTries }),
    },
    setup: (core) => core.nameRoles(...settings.required),
    decidesBy: {
      factor: [
        'requires a factor of users who have one',
        ...settings.required.map((role) => `requires a factor of ${role}`),
      ],
    },
    waysIn: ({ get }) => ({
      kind: 'factor',
      list: async (userId) => ((await get(SecondFactors).isEnabled(userId)) ? [{ id: 'app' }] : []),
      revoke: async (userId, id) => id === 'app' && get(SecondFactors).remove(userId),
    }),
    beforeLogin: ({ get }, user, context) => get(LoginSteps).begin(user, context),
    issue: ({ get }, user, context) => get(LoginSteps).recheck(user, context),
    async accountChanged({ get }, change) {
      if (endsWaysIn(change)) await get(SecondFactors).forget(change.userId);
      await get(LoginSteps).onAccountChange(change);
    },
    describe: () => STEP_DOCUMENT,
    ...(settings.required.length > 0 && {
      authenticate: (services, request, bearer) => refuseBeforeEnrolment(settings.required, services, request, bearer),
    }),
  };
}
