/** Passkeys, a plugin of accounts. */
import { OneTimeToken } from 'declarest';
import type { AuthPlugin } from 'declarest/plugin';
import { LoginSteps, STEP_DOCUMENT } from '../login-steps/login-steps.js';
import { PasskeyChallenges } from './passkey-challenges.js';
import { ASSERTION, PASSKEY } from './passkey-documents.js';
import { ENDPOINTS, ownerOf, toView } from './passkey-endpoints.js';
import { PASSKEY_SETTINGS, type PasskeysOptions, readSettings } from './passkey-settings.js';
import { passkeyStep } from './passkey-step.js';
import { PasskeyStore } from './passkey-store.js';
import { Passkey } from './passkey-tables.js';
import { Passkeys } from './passkeys.js';
import { readAssertion } from './sent-credential.js';
import { WebAuthn } from './web-authn.js';

export type { PasskeysOptions };

/**
 * Registrations and logins by passkeys (WebAuthn), below `{base}/passkeys`. Needs the tables of `Passkey` and
 * `OneTimeToken`.
 * @throws InvalidOptionError
 * @example plugins: [passkeys({ rpId: 'shop.example', origins: ['https://shop.example'] })]
 */
export function passkeys(options: PasskeysOptions): AuthPlugin {
  const settings = readSettings(options);
  const { secondFactor: isFactor = false } = settings;
  return {
    name: 'passkeys',
    tables: [Passkey, OneTimeToken],
    providers: [
      { provide: PASSKEY_SETTINGS, useValue: settings },
      WebAuthn,
      PasskeyChallenges,
      PasskeyStore,
      Passkeys,
      LoginSteps,
    ],
    setup: (core) => core.needMethods('remove'),
    decidesBy: { factor: isFactor ? 'requires a passkey of users who have one' : undefined },
    endpoints: isFactor ? [...ENDPOINTS, passkeyStep] : ENDPOINTS,
    proof: {
      member: 'credential',
      schema: ASSERTION,
      isFactor,
      has: async ({ get }, { id }) => (await get(PasskeyStore).listOf(String(id))).length > 0,
      check({ attempts, get }, call, sent) {
        const assertion = readAssertion(sent);
        const confirm = () => get(Passkeys).confirm(assertion, ownerOf(call));
        return attempts.run({ action: 'passkey', address: call.address }, confirm);
      },
    },
    limits: {
      passkeyChallenge: ({ addressTries }) => ({ address: 10 * addressTries }),
      // Whoever is stopped by it has given the password before.
      passkeyStep: ({ tries, addressTries }) => ({ account: tries, address: addressTries }),
    },
    async accountChanged({ get }, change) {
      await get(Passkeys).onAccountChange(change);
      if (isFactor) await get(LoginSteps).onAccountChange(change);
    },
    waysIn: ({ get }) => ({
      kind: 'passkey',
      list: async (userId) => (await get(PasskeyStore).listOf(userId)).map(toView),
      revoke: (userId, id) => get(Passkeys).remove(userId, id, true),
    }),
    ...(isFactor && {
      beforeLogin: ({ get }, user, context) => get(LoginSteps).begin(user, context),
      issue: ({ get }, user, context) => get(LoginSteps).recheck(user, context),
    }),
    describe: () => ({ schemas: [PASSKEY], ...(isFactor && STEP_DOCUMENT) }),
  };
}
