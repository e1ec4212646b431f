import base from '../../../vitest.config.js';

/** The unit tests that Stryker runs for each mutant. */
export default {
  ...base,
  // Stryker runs threads, which take no options of the heap.
  test: { ...base.test, execArgv: [], include: ['test/internals/mutation/**/*.spec.ts'] },
};
