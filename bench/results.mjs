/** What a run has found: as JSON to compare the next run with, as Markdown to read, and as a chart. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BASE } from './contestants.mjs';
import { chart } from './chart.mjs';
import { BENCH } from './paths.mjs';
import { loginTable, memoryTable, rulesTable, startTable, summaryTable, throughputTable } from './report.mjs';

const JSON_FILE = join(BENCH, 'results.json');
const FALLEN = 0.85;

export function writeResults(results) {
  const rounded = (_, value) => (typeof value === 'number' ? Number(value.toPrecision(4)) : value);
  writeFileSync(JSON_FILE, `${JSON.stringify(results, rounded, 1)}\n`);
  writeFileSync(join(BENCH, 'results.md'), markdown(results));
  writeFileSync(join(BENCH, 'results.svg'), chart(results));
}

function markdown({ date, machine, versions, rounds, seconds, connections, operations, memory, rules, start, login }) {
  const list = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const sections = [
    '# Benchmark',
    `Written by \`npm run bench\` on ${date}; how it measures stands in [run.mjs](run.mjs).`,
    `Machine: ${machine}.\nVersions: ${list.join(', ')}.`,
    `Each figure is the median of ${rounds} rounds of ${seconds} s with ${connections} connections, after a warm-up. All contestants are up at ` +
      'once, the rounds are interleaved, in the reverse order every second time, and ratios are taken within a round. ' +
      'Absolute numbers move by 10 to 20 % between runs: compare ratios.',
    `\`raw\` is node:http with prepared statements and everything by hand: the limit. \`${BASE}\` is the controller that Nest's documentation teaches. A server that had much less than its core (last column) waited for the database, or for a machine that was not quiet.`,
    `## At a glance\n\n![](results.svg)\n\n${summaryTable(operations)}`,
    ...operations.map(({ title, rows }) => `## ${title}\n\n${throughputTable(rows)}`),
    rules && `## Rules: findById with a token\n\n${rulesTable(rules)}`,
    start && `## Start, and the last of many resources\n\n${startTable(start)}`,
    memory && `## Memory\n\n${memoryTable(memory)}`,
    login && `## Reads beside eight logins (bcrypt, cost 10; two cores)\n\n${loginTable(login)}`,
  ];
  return `${sections.filter(Boolean).join('\n\n')}\n`;
}

/** Prints which ratios have fallen; it is for a person to judge. */
export function checkResults({ operations }) {
  if (!existsSync(JSON_FILE)) return console.log('There is no bench/results.json to compare with.');
  const committed = JSON.parse(readFileSync(JSON_FILE, 'utf8'));
  let compared = 0;
  const fallen = operations.flatMap(({ title, rows }) =>
    rows.flatMap(({ contestant, ratio }) => {
      const earlier = committed.operations
        .find((operation) => operation.title === title)
        ?.rows.find((row) => row.contestant === contestant)?.ratio;
      if (!earlier || !ratio) return [];
      compared += 1;
      const share = ratio.median / earlier.median;
      if (share >= FALLEN) return [];
      return `${title}, ${contestant}: ${ratio.median.toFixed(2)} times ${BASE}, was ${earlier.median.toFixed(2)} on ${committed.date} (${Math.round((share - 1) * 100)} %)`;
    }),
  );
  console.log(`\nAgainst ${committed.date}, ${compared} ratios: ${fallen.length} fell by more than 15 %.`);
  for (const line of fallen) console.log(`  ${line}`);
}
