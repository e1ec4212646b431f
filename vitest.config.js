import { availableParallelism } from 'node:os';
import { transform } from '@swc/core';
import { defineConfig } from 'vitest/config';
import { BROWSER, browserPath } from './test/harness/browser.js';
import { isLeftOut, RANDOM_SUITES } from './test/harness/random-suites.js';
import { SERVERS } from './test/harness/servers.js';
import { SQLITE_PACKAGE } from './test/harness/sqlite.js';
import { SWC_OPTIONS } from './test/harness/swc.js';

/**
 * Vite's own compiler writes no metadata of decorators.
 * @type {import('vitest/config').Plugin}
 */
const swc = {
  name: 'swc',
  enforce: 'pre',
  transform: {
    // Files that no test loads have a query, in a run with coverage.
    filter: { id: /\.ts(\?|$)/ },
    handler: (code, id) => transform(code, { ...SWC_OPTIONS, sourceMaps: true, filename: id.replace(/\?.*/, '') }),
  },
};

const sourceOf = (/** @type {string} */ path) => `${import.meta.dirname}/${path}`;

export default defineConfig({
  plugins: [swc],
  oxc: false,
  resolve: {
    alias: [
      { find: /^declarest$/, replacement: sourceOf('lib/index.ts') },
      { find: /^declarest\/(express|observe|openapi|plugin|testing)$/, replacement: sourceOf('lib/$1/index.ts') },
      { find: /^declarest-client\/providers$/, replacement: sourceOf('packages/declarest-client/src/providers.ts') },
      {
        find: /^ra-data-declarest\/description$/,
        replacement: sourceOf('packages/ra-data-declarest/src/description.ts'),
      },
      { find: /^declarest-files\/s3$/, replacement: sourceOf('packages/declarest-files/src/s3/index.ts') },
      { find: /^declarest-logins\/([\w-]+)$/, replacement: sourceOf('packages/declarest-logins/src/$1/index.ts') },
      {
        find: /^(declarest-client|declarest-files|declarest-mcp|ra-data-declarest|refine-declarest)$/,
        replacement: sourceOf('packages/$1/src/index.ts'),
      },
      { find: /^better-sqlite3$/, replacement: SQLITE_PACKAGE },
    ],
  },
  test: {
    globals: true,
    include: ['test/**/*.spec.ts'],
    // The reporter lists at the end what was left out.
    exclude: [
      ...RANDOM_SUITES.filter(isLeftOut).map(({ files }) => files),
      ...(browserPath ? [] : [`test/**/${BROWSER.suite}`]),
      // Suites without a case on SQLite.
      ...(SERVERS.some(({ variable }) => process.env[variable]) ? [] : ['test/**/*.servers.spec.ts']),
    ],
    // A worker keeps the packages loaded. The setup file makes it load `lib/` anew for each test file.
    pool: 'forks',
    // Requests leave much garbage, which is cheap to collect before it grows old.
    execArgv: ['--max-semi-space-size=64'],
    isolate: false,
    // One more than cores: tests wait for child processes, databases and limits of time.
    maxWorkers: availableParallelism() + 1,
    setupFiles: ['test/harness/setup.ts'],
    // What test/compiled.ts writes, and a package that keeps the entities of each connection, are loaded anew too.
    server: { deps: { inline: [/\.cache\/declarest-/, '@nestjs/typeorm'] } },
    // Ends a test that hangs, and none on a slow machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Titles with long values differ behind the default of 40 characters.
    chaiConfig: { truncateThreshold: 200 },
    reporters: ['./test/harness/quiet-reporter.js'],
    coverage: {
      // It counts statements and both sides of every condition.
      provider: 'istanbul',
      include: ['lib/**/*.ts', 'packages/declarest-logins/src/**/*.ts'],
      // scripts/check-coverage.mjs merges what several runs cover, and holds the total against the thresholds.
      reporter: ['json'],
    },
  },
});
