import { BROWSER, browserPath } from './test/harness/browser.js';

// Tests run as ES modules on the sources: swc does to decorators what tsc does in the release (legacy, with metadata).
const swc = {
  jsc: {
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true, verbatimModuleSyntax: true },
    target: 'es2022',
    keepClassNames: true,
  },
  module: { type: 'es6' },
  sourceMaps: 'inline',
};

export default {
  testEnvironment: 'node',
  // TypeORM keeps entities on the global object; Jest would warn about every one it then looks at.
  testEnvironmentOptions: { globalsCleanup: 'off' },
  testMatch: ['<rootDir>/test/**/*.spec.ts'],
  // Named at the end of the run when it is left out.
  testPathIgnorePatterns: ['/node_modules/', ...(browserPath ? [] : [`/${BROWSER.suite}$`])],
  modulePathIgnorePatterns: [
    '<rootDir>/dist/',
    '<rootDir>/sample-app/dist/',
    '<rootDir>/.stryker-tmp/',
    '<rootDir>/bench/',
  ],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest', swc] },
  moduleNameMapper: {
    '^declarest$': '<rootDir>/lib/index.ts',
    '^declarest/express$': '<rootDir>/lib/express/index.ts',
    '^declarest/testing$': '<rootDir>/lib/testing/index.ts',
    // The sources write ".js", as ES modules must; there the file is still ".ts".
    '^(\\.{1,2}/.+)\\.js$': ['$1.ts', '$1.js'],
  },
  testTimeout: 20_000,
  maxWorkers: '100%',
  // ES modules of finished test files stay in memory for as long as their worker lives.
  workerIdleMemoryLimit: '1GB',
  reporters: ['default', '<rootDir>/test/harness/left-out-reporter.js'],
  collectCoverageFrom: ['lib/**/*.ts'],
  // Counts statements and both sides of every condition; the "v8" provider also counts comments as covered lines.
  coverageProvider: 'babel',
  coverageReporters: ['text-summary', 'lcovonly', 'html'],
  coverageThreshold: { global: { lines: 95, branches: 90 } },
};
