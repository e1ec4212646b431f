/**
 * The variable with the path of a browser. Plain JavaScript, because the configuration of Vitest and the reporter read it.
 */
export const BROWSER = { variable: 'TEST_CHROMIUM', example: '/usr/bin/chromium', suite: 'browser.spec.ts' };

/** Its executable; `undefined` leaves the suite out. */
export const browserPath = process.env[BROWSER.variable];

/**
 * A device with passkeys, for `WebAuthn.addVirtualAuthenticator` of Chromium. It confirms its user by itself.
 */
export const PASSKEY_DEVICE = /** @type {const} */ ({
  protocol: 'ctap2',
  transport: 'internal',
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
  automaticPresenceSimulation: true,
});
