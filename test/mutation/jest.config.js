import base from '../../jest.config.js';

/** The unit tests that Stryker runs for each mutant. */
export default {
  ...base,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/mutation/**/*.spec.ts'],
  reporters: ['default'],
  maxWorkers: 2,
};
