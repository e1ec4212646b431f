// Merges the coverage of several runs of the tests, and fails when the total is below a threshold.
//
//     node scripts/check-coverage.mjs coverage/*/coverage-final.json
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import coverage from 'istanbul-lib-coverage';

const THRESHOLDS = { lines: 95, branches: 90 };
const MOST_FILES = 10;

const runs = process.argv.slice(2);
if (runs.length === 0) {
  console.error('Name the coverage-final.json of at least one run.');
  process.exit(2);
}

const merged = coverage.createCoverageMap();
for (const run of runs) merged.merge(JSON.parse(readFileSync(run, 'utf8')));

const summary = merged.getCoverageSummary();
console.log(`Coverage of ${merged.files().length} files in ${runs.length} runs:`);
for (const kind of ['statements', 'branches', 'functions', 'lines']) {
  const { pct, covered, total } = summary[kind];
  console.log(`${kind.padEnd(10)} ${pct.toFixed(2)} % (${covered} of ${total})`);
}

const below = Object.entries(THRESHOLDS).filter(([kind, least]) => summary[kind].pct < least);
for (const [kind, least] of below)
  console.error(`Coverage of ${kind} must be at least ${least} %, got ${summary[kind].pct} %.`);
if (below.length > 0) printLeastCovered();
process.exitCode = below.length > 0 ? 1 : 0;

/** Lists the files with the most uncovered branches and lines. */
function printLeastCovered() {
  const rows = merged.files().map((file) => {
    const { branches, lines } = merged.fileCoverageFor(file).toSummary();
    return { file, branches: branches.total - branches.covered, lines: lines.total - lines.covered };
  });
  rows.sort((a, b) => b.branches + b.lines - (a.branches + a.lines));
  for (const { file, branches, lines } of rows.slice(0, MOST_FILES))
    console.error(`${relative('.', file)}: ${branches} branches and ${lines} lines are not covered`);
}
