import { relative } from 'node:path';
import { BROWSER, browserPath } from './browser.js';
import { RANDOM_SUITES } from './random-suites.js';
import { SERVERS } from './servers.js';

/** Prints failures in full as they occur, then the totals, then the suites that did not run and how to run them. */
export default class QuietReporter {
  /**
   * @param {import('@jest/reporters').Test} _test
   * @param {import('@jest/reporters').TestResult} result
   * @param {import('@jest/reporters').AggregatedResult} results
   */
  onTestResult(_test, { testFilePath, failureMessage, console }, results) {
    if (failureMessage) {
      const logged = (console ?? []).map(({ type, message, origin }) => `console.${type} ${message}\n${origin}\n`);
      print(`FAIL ${relative('.', testFilePath)}\n${failureMessage}${logged.join('')}`);
    }
    if (!process.stderr.isTTY) return;
    const done = results.numPassedTestSuites + results.numFailedTestSuites;
    process.stderr.write(`\r${done} of ${results.numTotalTestSuites} test files\r`);
  }

  /**
   * @param {Set<import('@jest/reporters').TestContext>} contexts
   * @param {import('@jest/reporters').AggregatedResult} results
   */
  onRunComplete(contexts, results) {
    const { numFailedTestSuites, numPassedTestSuites, numFailedTests, numPassedTests, startTime } = results;
    print(`Test files: ${numPassedTestSuites} passed, ${numFailedTestSuites} failed`);
    print(`Tests:      ${numPassedTests} passed, ${numFailedTests} failed`);
    print(`Time:       ${Math.round((Date.now() - startTime) / 1000)} s`);
    for (const { suites, command } of leftOut(contexts)) print(`Left out: ${suites}. To run them: ${command}`);
  }
}

/**
 * @param {Set<import('@jest/reporters').TestContext>} contexts
 * @returns {{ suites: string, command: string }[]}
 */
function leftOut(contexts) {
  const ignored = [...contexts].flatMap(({ config }) => config.testPathIgnorePatterns);
  const servers = SERVERS.filter(({ variable }) => !process.env[variable]).map(({ database, variable, example }) => ({
    suites: `the suites on ${database}`,
    command: `${variable}=${example} npm test`,
  }));
  const browser = { suites: 'the suites in a browser', command: `${BROWSER.variable}=${BROWSER.example} npm test` };
  const random = RANDOM_SUITES.filter(({ pattern }) => ignored.includes(pattern)).map(({ command }) => ({
    suites: 'random cases',
    command,
  }));
  return [...servers, ...(browserPath ? [] : [browser]), ...random];
}

/** @param {string} text */
function print(text) {
  process.stderr.write(`${text}\n`);
}
