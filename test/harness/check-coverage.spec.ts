/** `scripts/check-coverage.mjs` on coverage data of a file with one branch and two lines. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('../../scripts/check-coverage.mjs', import.meta.url));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'declarest-coverage-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Writes what one run covered: how often each line and each side of the branch was executed. */
function runOf(name: string, lines: [number, number], sides: [number, number]): string {
  const at = (line: number) => ({ start: { line, column: 0 }, end: { line, column: 9 } });
  const file = join(folder, `${name}.json`);
  const coverage = {
    path: '/lib/a.ts',
    statementMap: { 0: at(1), 1: at(2) },
    fnMap: {},
    branchMap: { 0: { type: 'if', loc: at(1), locations: [at(1), at(2)], line: 1 } },
    s: { 0: lines[0], 1: lines[1] },
    f: {},
    b: { 0: sides },
  };
  writeFileSync(file, JSON.stringify({ '/lib/a.ts': coverage }));
  return file;
}

const check = (...runs: string[]) => spawnSync(process.execPath, [SCRIPT, ...runs], { encoding: 'utf8' });

it('fails for each run alone, and passes for their union', () => {
  const first = runOf('first', [1, 0], [1, 0]);
  const second = runOf('second', [1, 1], [0, 1]);
  const alone = check(first);
  expect(alone.status).toBe(1);
  expect(alone.stderr).toContain('Coverage of lines must be at least 95 %, got 50 %.');
  expect(alone.stderr).toContain('Coverage of branches must be at least 90 %, got 50 %.');
  expect(check(second).status).toBe(1);
  const union = check(first, second);
  expect([union.status, union.stderr]).toEqual([0, '']);
  expect(union.stdout).toContain('branches   100.00 % (2 of 2)');
});

it('refuses to pass without a run', () => {
  expect(check().status).toBe(2);
});
