import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import QuietReporter from './quiet-reporter.js';
import { RANDOM_SUITES } from './random-suites.js';

interface File {
  readonly moduleId: string;
  /** The messages of failed tests. */
  readonly failed?: string[];
  /** How many tests passed. */
  readonly passed?: number;
}

/** What the reporter prints for a run with these results of test files. */
function printed(...files: File[]): string {
  let text = '';
  const write = vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  try {
    const reporter = new QuietReporter();
    const modules = files.map(({ moduleId, failed = [], passed = 0 }) => ({
      moduleId,
      ok: () => failed.length === 0,
      errors: () => [],
      children: {
        allSuites: () => [],
        allTests: (state: string) =>
          state === 'passed'
            ? Array.from({ length: passed })
            : failed.map((message) => ({
                fullName: 'a list > is empty',
                result: () => ({ errors: [{ name: 'Error', message, stack: '    at list.ts:1' }] }),
              })),
      },
    }));
    reporter.onTestRunStart(modules as never);
    for (const module of modules) reporter.onTestModuleEnd(module as never);
    reporter.onTestRunEnd(modules as never, []);
  } finally {
    write.mockRestore();
  }
  return text;
}

afterEach(() => vi.unstubAllEnvs());

it('prints the totals and no line for a test file that passed', () => {
  const text = printed({ moduleId: '/a/passed.spec.ts', passed: 7 });
  expect(text).toMatch(/^Test files: 1 passed, 0 failed\nTests: {6}7 passed, 0 failed\nTime: {7}0 s\n/);
  expect(text).not.toContain('passed.spec.ts');
});

it('prints a line for each tenth of the test files', () => {
  const files = (count: number): File[] =>
    Array.from({ length: count }, (_, index) => ({ moduleId: `/a/${index}.spec.ts` }));
  const progress = (count: number): string[] =>
    [...printed(...files(count)).matchAll(/^(\d+) of \d+ test files, 0 s$/gm)].map(([, done = '']) => done);
  expect(progress(31)).toEqual(['4', '7', '10', '13', '16', '19', '22', '25', '28']);
  expect(progress(3)).toEqual(['1', '2']);
});

it('prints a failure in full', () => {
  const text = printed({ moduleId: '/a/failed.spec.ts', failed: ['first line\n  last line'] });
  expect(text).toMatch(
    /^FAIL \S*failed\.spec\.ts\n● a list > is empty\nError: first line\n {2}last line\n {4}at list\.ts:1\n\nTest files: 0 passed, 1 failed\n/,
  );
});

it('names the suites that were left out, and the command that runs them', () => {
  for (const { variable } of RANDOM_SUITES) vi.stubEnv(variable, undefined);
  expect(printed()).toContain('Left out: random cases. To run them: npm run fuzz\n');
  vi.stubEnv('FUZZ_REQUESTS', '1');
  expect(printed()).not.toContain('npm run fuzz');
});

it('names the proxies that are not installed, and their packages', () => {
  vi.stubEnv('PATH', '/nowhere');
  expect(printed()).toContain(
    'Left out: the suites behind nginx, Apache, Caddy, HAProxy. To run them: apt-get install nginx-light apache2-bin caddy haproxy && npx vitest run test/proxies\n',
  );
  const folder = mkdtempSync(join(tmpdir(), 'declarest-path-'));
  for (const command of ['nginx', 'caddy']) writeFileSync(join(folder, command), '');
  vi.stubEnv('PATH', `/nowhere:${folder}`);
  expect(printed()).toContain(
    'Left out: the suites behind Apache, HAProxy. To run them: apt-get install apache2-bin haproxy ',
  );
  for (const command of ['apache2', 'haproxy']) writeFileSync(join(folder, command), '');
  expect(printed()).not.toContain('the suites behind');
  rmSync(folder, { recursive: true });
});
