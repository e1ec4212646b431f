import base from '../../../vitest.config.js';

/** The unit tests that Stryker runs for each mutant. */
export default { ...base, test: { ...base.test, include: ['test/internals/mutation/**/*.spec.ts'] } };
