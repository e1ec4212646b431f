import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { BROWSER, browserPath } from './browser.js';
import { isInstalled, PROXIES } from './proxies.js';
import { isLeftOut, RANDOM_SUITES } from './random-suites.js';
import { SERVERS } from './servers.js';

/** Prints how far the run is, failures in full as they occur, then the totals, then the suites that did not run and how to run them. */
export default class QuietReporter {
  #startTime = Date.now();
  #files = 0;
  #done = 0;
  /** @type {import('vitest').UserConsoleLog[]} */
  #logged = [];

  /** @param {readonly import('vitest/node').TestSpecification[]} files */
  onTestRunStart(files) {
    this.#files = files.length;
  }

  /** @param {import('vitest').UserConsoleLog} log */
  onUserConsoleLog(log) {
    this.#logged.push(log);
  }

  /** @param {import('vitest/node').TestModule} file */
  onTestModuleEnd(file) {
    const failures = failuresOf(file);
    // The ids of tests begin with that of their file.
    const logged = this.#logged.filter(({ taskId }) => taskId?.startsWith(file.id));
    const parts = [...failures, ...logged.map(({ type, content }) => `${type}: ${content}`)];
    if (failures.length > 0) print(`FAIL ${relative('.', file.moduleId)}\n${parts.join('\n')}`);
    this.#done += 1;
    this.#printProgress();
  }

  /** A terminal has one line that changes with each file, a log a line for each tenth of the files. */
  #printProgress() {
    const progress = `${this.#done} of ${this.#files} test files`;
    if (process.stderr.isTTY) process.stderr.write(`\r${progress}\r`);
    else if ((this.#done * 10) % this.#files < 10 && this.#done < this.#files)
      print(`${progress}, ${this.#seconds()} s`);
  }

  #seconds() {
    return Math.round((Date.now() - this.#startTime) / 1000);
  }

  /**
   * @param {readonly import('vitest/node').TestModule[]} files
   * @param {readonly import('vitest/node').SerializedError[]} unhandledErrors
   */
  onTestRunEnd(files, unhandledErrors) {
    for (const error of unhandledErrors) print(`FAIL outside of the tests\n${textOf(error)}`);
    const failedFiles = files.filter((file) => !file.ok()).length;
    const count = (/** @type {'passed' | 'failed'} */ state) =>
      files.reduce((sum, { children }) => sum + [...children.allTests(state)].length, 0);
    print(`Test files: ${files.length - failedFiles} passed, ${failedFiles} failed`);
    print(`Tests:      ${count('passed')} passed, ${count('failed')} failed`);
    print(`Time:       ${this.#seconds()} s`);
    for (const { suites, command } of leftOut()) print(`Left out: ${suites}. To run them: ${command}`);
  }
}

/**
 * The errors of a file, its suites and its tests.
 * @param {import('vitest/node').TestModule} file
 */
function failuresOf(file) {
  const suites = [...file.children.allSuites()].map((suite) => ({ name: suite.fullName, errors: suite.errors() }));
  const tests = [...file.children.allTests('failed')].map((test) => ({
    name: test.fullName,
    errors: test.result().errors ?? [],
  }));
  return [{ name: 'the file', errors: file.errors() }, ...suites, ...tests].flatMap(({ name, errors }) =>
    errors.map((error) => `● ${name}\n${textOf(error)}`),
  );
}

/** @param {import('vitest/node').SerializedError & { diff?: string }} error */
function textOf({ name, message, diff, stacks, stack }) {
  const places = stacks?.map(({ method, file, line, column }) => `    at ${method} (${file}:${line}:${column})`);
  return [`${name}: ${message}`, ...(diff ? [stripVTControlCharacters(diff)] : []), ...(places ?? [stack]), ''].join(
    '\n',
  );
}

/** @returns {{ suites: string, command: string }[]} */
function leftOut() {
  const servers = SERVERS.filter(({ variable }) => !process.env[variable]).map(({ database, variable, example }) => ({
    suites: `the suites on ${database}`,
    command: `${variable}=${example} npm test`,
  }));
  const browser = { suites: 'the suites in a browser', command: `${BROWSER.variable}=${BROWSER.example} npm test` };
  const missing = PROXIES.filter((proxy) => !isInstalled(proxy));
  const proxies = {
    suites: `the suites behind ${missing.map(({ name }) => name).join(', ')}`,
    command: `apt-get install ${missing.map((proxy) => proxy.package).join(' ')} && npx vitest run test/proxies`,
  };
  const random = RANDOM_SUITES.filter(isLeftOut).map(({ command }) => ({ suites: 'random cases', command }));
  return [...servers, ...(browserPath ? [] : [browser]), ...(missing.length > 0 ? [proxies] : []), ...random];
}

/** @param {string} text */
function print(text) {
  process.stderr.write(`${text}\n`);
}
