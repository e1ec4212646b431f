/** Suites of random cases, which have commands of their own. The pattern matches the path of a test file. */
export const RANDOM_SUITES = [
  { pattern: '/test/proof/', command: 'npm run proof:rules' },
  { pattern: '/test/crud-proof/', command: 'npm run proof:crud' },
  { pattern: '/test/auth-proof/', command: 'npm run proof:sessions' },
  { pattern: '/test/access/fuzz\\.spec\\.ts$', command: 'npm run fuzz' },
];
