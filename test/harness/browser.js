/**
 * The browser that tests use when told where it is. Plain JavaScript, since Jest's configuration and the reporter read it.
 */
export const BROWSER = { variable: 'TEST_CHROMIUM', example: '/usr/bin/chromium', suite: 'browser.spec.ts' };

/** Its executable; `undefined` leaves the suite out. */
export const browserPath = process.env[BROWSER.variable];
