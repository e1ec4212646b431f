/** Passkeys, a plugin of accounts. */
import type { AuthPlugin } from '../../auth/plugins/plugin.js';
import { limitByAddress } from '../../auth/throttle/attempt.js';
import { PasskeyChallenges } from './passkey-challenges.js';
import { PASSKEY } from './passkey-documents.js';
import { ENDPOINTS } from './passkey-endpoints.js';
import { type PasskeysOptions, readSettings } from './passkey-settings.js';
import { PasskeyStore } from './passkey-store.js';
import { Passkey, PasskeyChallenge, PasswordlessUser } from './passkey-tables.js';
import { Passkeys } from './passkeys.js';
import { WebAuthn } from './web-authn.js';

export type { PasskeysOptions };

/**
 * Registrations and logins by passkeys (WebAuthn), below `{base}/passkeys`. Needs the package `@simplewebauthn/server`, and
 * the tables of `Passkey`, `PasskeyChallenge` and `PasswordlessUser`.
 * @throws InvalidOptionError
 * @example plugins: [passkeys({ rpId: 'shop.example', origins: ['https://shop.example'] })]
 */
export function passkeys(options: PasskeysOptions): AuthPlugin {
  const settings = readSettings(options);
  return {
    name: 'passkeys',
    tables: [Passkey, PasskeyChallenge, PasswordlessUser],
    providers: [
      { provide: WebAuthn, useFactory: () => WebAuthn.load(settings) },
      PasskeyChallenges,
      PasskeyStore,
      Passkeys,
    ],
    endpoints: ENDPOINTS,
    limits: {
      passkey: limitByAddress,
      passkeyChallenge: ({ addressTries }) => ({ address: 10 * addressTries }),
    },
    accountChanged: ({ get }, change) => get(Passkeys).follow(change),
    describe: () => ({ schemas: [PASSKEY] }),
  };
}
