import base from '../../jest.config.js';

/** The pure units alone, as Stryker runs them once for each mutant. */
export default {
  ...base,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/mutation/**/*.spec.ts'],
  reporters: ['default'],
  collectCoverage: false,
  coverageThreshold: undefined,
  maxWorkers: 2,
};
