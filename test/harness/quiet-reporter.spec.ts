import { jest } from '@jest/globals';
import QuietReporter from './quiet-reporter.js';
import { RANDOM_SUITES } from './random-suites.js';

/** What the reporter prints for a run with these results of test files. */
function printed(files: { testFilePath: string; failureMessage?: string }[], ignored: string[] = []): string {
  let text = '';
  const write = jest.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  try {
    const reporter = new QuietReporter();
    const numFailedTestSuites = files.filter(({ failureMessage }) => failureMessage).length;
    const results = {
      numFailedTestSuites,
      numPassedTestSuites: files.length - numFailedTestSuites,
      numFailedTests: numFailedTestSuites,
      numPassedTests: 7,
      numTotalTestSuites: files.length,
      startTime: Date.now(),
    };
    for (const file of files) reporter.onTestResult({} as never, file as never, results as never);
    reporter.onRunComplete(new Set([{ config: { testPathIgnorePatterns: ignored } }]) as never, results as never);
  } finally {
    write.mockRestore();
  }
  return text;
}

it('prints the totals and no line for a test file that passed', () => {
  const text = printed([{ testFilePath: '/a/passed.spec.ts' }]);
  expect(text).toMatch(/^Test files: 1 passed, 0 failed\nTests: {6}7 passed, 0 failed\nTime: {7}0 s\n/);
  expect(text).not.toContain('passed.spec.ts');
});

it('prints a failure in full', () => {
  const text = printed([{ testFilePath: '/a/failed.spec.ts', failureMessage: '● first line\n  last line\n' }]);
  expect(text).toMatch(/^FAIL \S*failed\.spec\.ts\n● first line\n {2}last line\n\nTest files: 0 passed, 1 failed\n/);
});

it('names the suites that were left out, and the command that runs them', () => {
  const ignored = RANDOM_SUITES.map(({ pattern }) => pattern);
  expect(printed([], ignored)).toContain('Left out: random cases. To run them: npm run fuzz\n');
  expect(printed([], [])).not.toContain('npm run fuzz');
});
