/** declarest-logins/passkeys: registrations, logins and a second factor by passkeys (WebAuthn). */
export { passkeys, type PasskeysOptions } from './passkeys.plugin.js';
export { Passkey } from './passkey-tables.js';
