/**
 * Suites of random cases, which have commands of their own. These set the variable, which says how many cases to run.
 */
export const RANDOM_SUITES = [
  { files: 'test/internals/proof/**', variable: 'PROOF_APPLICATIONS', command: 'npm run proof:rules' },
  { files: 'test/crud-proof/**', variable: 'MODEL_SEQUENCES', command: 'npm run proof:crud' },
  { files: 'test/auth-proof/**', variable: 'SESSION_SEQUENCES', command: 'npm run proof:sessions' },
  { files: 'test/access/fuzz.spec.ts', variable: 'FUZZ_REQUESTS', command: 'npm run fuzz' },
];

/** @param {{ variable: string }} suite */
export const isLeftOut = ({ variable }) => !process.env[variable];
