import { BROWSER, browserPath } from './test/harness/browser.js';
import { RANDOM_SUITES } from './test/harness/random-suites.js';
import { SERVERS } from './test/harness/servers.js';
import { SQLITE_PACKAGE } from './test/harness/sqlite.js';
import { SWC_OPTIONS } from './test/harness/swc.js';

export default {
  testEnvironment: 'node',
  // TypeORM stores entities on the global object, and Jest would warn about each of them.
  testEnvironmentOptions: { globalsCleanup: 'off' },
  testMatch: ['<rootDir>/test/**/*.spec.ts'],
  // The reporter lists at the end what was left out.
  testPathIgnorePatterns: [
    '/node_modules/',
    ...RANDOM_SUITES.map(({ pattern }) => pattern),
    ...(browserPath ? [] : [`/${BROWSER.suite}$`]),
    // Suites without a case on SQLite.
    ...(SERVERS.some(({ variable }) => process.env[variable]) ? [] : ['\\.servers\\.spec\\.ts$']),
  ],
  modulePathIgnorePatterns: [
    '<rootDir>/dist/',
    '<rootDir>/sample-app/dist/',
    '<rootDir>/.stryker-tmp/',
    '<rootDir>/bench/',
    '<rootDir>/packages/.+/(dist|template)/',
    '<rootDir>/examples/',
  ],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest', SWC_OPTIONS] },
  moduleNameMapper: {
    '^declarest$': '<rootDir>/lib/index.ts',
    '^declarest/express$': '<rootDir>/lib/express/index.ts',
    '^declarest/openapi$': '<rootDir>/lib/openapi/index.ts',
    '^declarest/testing$': '<rootDir>/lib/testing/index.ts',
    '^declarest-client/providers$': '<rootDir>/packages/declarest-client/src/providers.ts',
    '^(declarest-client|ra-data-declarest|refine-declarest)$': '<rootDir>/packages/$1/src/index.ts',
    '^better-sqlite3$': SQLITE_PACKAGE,
    // Sources import ".js", as ES modules must; Jest has to find ".ts".
    '^(\\.{1,2}/.+)\\.js$': ['$1.ts', '$1.js'],
  },
  testTimeout: 20_000,
  maxWorkers: '100%',
  // A worker never frees the ES modules of finished test files.
  workerIdleMemoryLimit: '1GB',
  reporters: ['<rootDir>/test/harness/quiet-reporter.js'],
  setupFilesAfterEnv: ['<rootDir>/test/harness/silence-nest.ts'],
  collectCoverageFrom: ['lib/**/*.ts'],
  // It counts statements and both sides of every condition; the "v8" provider also counts comments as covered lines.
  coverageProvider: 'babel',
  // scripts/check-coverage.mjs merges what several runs cover, and holds the total against the thresholds.
  coverageReporters: ['json'],
};
