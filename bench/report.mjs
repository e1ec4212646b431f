/** Tables of Markdown for the terminal, bench/results.md and README.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isOnSqlite } from './contestants.mjs';

const JSON_FILE = join(import.meta.dirname, 'results.json');
const MARKDOWN_FILE = join(import.meta.dirname, 'results.md');
const README_FILE = join(import.meta.dirname, '..', 'README.md');
const DEPLOYED_SECTION = /(<!-- bench:deployed -->)[^]*?(<!-- \/bench:deployed -->)/;
/** The share of its core that a server has on a quiet machine. */
const QUIET = 0.85;

const integer = (number) => Math.round(number).toLocaleString('en-US');
const digits = (number) => (number >= 100 ? integer(number) : String(Number(number.toPrecision(3))));
const factor = (number) => number?.toFixed(2) ?? '';
const withQuartiles = (figure, format) =>
  figure ? `${format(figure.median)} (${format(figure.low)}-${format(figure.high)})` : '';

export function table(head, rows) {
  const cells = [head, ...rows].map((row) => row.map(String));
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column].length), 3));
  const line = (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  const [first, ...others] = cells.map(line);
  return [first, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...others].join('\n');
}

const titleOf = ({ contestants }, name) => contestants.find((contestant) => contestant.name === name).title;

/** All operations: multiples of the hand-written controller on the same platform and database, and µs of processor time. */
function overviewTable({ contestants, operations }) {
  const cell = (row, kind) => {
    if (!row) return '';
    const time = `${digits(row.cpu.median)} µs`;
    if (!row.ofHandWritten) return time;
    return `${kind === 'hand-written' ? '1.00' : withQuartiles(row.ofHandWritten, factor)}, ${time}`;
  };
  return table(
    ['', ...operations.map(({ title }) => title)],
    contestants.map(({ name, title, kind }) => [
      title,
      ...operations.map(({ rows }) =>
        cell(
          rows.find(({ contestant }) => contestant === name),
          kind,
        ),
      ),
    ]),
  );
}

function operationTable(results, { rows }) {
  return table(
    [
      '',
      'µs CPU/req (quartiles)',
      'times hand-written',
      'share of the prototype',
      'declarest, times this',
      'req/s',
      'core in use',
    ],
    rows.map(({ contestant, cpu, ofHandWritten, ofPrototype, byDeclarest, perSecond, busy }) => [
      titleOf(results, contestant),
      withQuartiles(cpu, digits),
      withQuartiles(ofHandWritten, factor),
      withQuartiles(ofPrototype, factor),
      withQuartiles(byDeclarest, factor),
      integer(perSecond.median),
      `${Math.round(busy.median * 100)} %`,
    ]),
  );
}

function memoryTable(results) {
  return table(
    ['', 'idle, MiB', 'after load, MiB', 'after load, times hand-written (one measurement)'],
    results.memory.map(({ contestant, idle, loaded, ratio }) => [
      titleOf(results, contestant),
      digits(idle),
      digits(loaded),
      factor(ratio),
    ]),
  );
}

function comparisonTable(results, rows, [without, withMore]) {
  return table(
    ['', `${without}, µs CPU/req (quartiles)`, `${withMore}, µs CPU/req (quartiles)`, 'ratio'],
    rows.map((row) => [
      titleOf(results, row.contestant),
      withQuartiles(row.without.cpu, digits),
      withQuartiles(row.withMore.cpu, digits),
      withQuartiles(row.ratio, factor),
    ]),
  );
}

function ruleStartTable(results) {
  return table(
    ['', '10 rules, ms CPU (quartiles)', '10,000 rules, ms CPU (quartiles)', 'difference'],
    results.ruleStart.map(({ contestant, without, withMore, difference }) => [
      titleOf(results, contestant),
      withQuartiles(without.cpu, integer),
      withQuartiles(withMore.cpu, integer),
      withQuartiles(difference, integer),
    ]),
  );
}

function startTable(results) {
  return table(
    [
      '',
      'ms CPU to the first response (quartiles)',
      'elapsed ms',
      'RSS, MiB',
      'CPU, times hand-written',
      'RSS, times hand-written',
    ],
    results.start.map(({ contestant, cpu, elapsed, rss, ratio, memoryRatio }) => [
      titleOf(results, contestant),
      withQuartiles(cpu, integer),
      integer(elapsed.median),
      digits(rss.median),
      withQuartiles(ratio, factor),
      withQuartiles(memoryRatio, factor),
    ]),
  );
}

/** With the floors of `npm run bench:check`, where it was that. */
function goalsTable(results) {
  const isCheck = results.goals.some(({ floor }) => floor !== undefined);
  return table(
    ['', 'contestant', 'measured (quartiles)', 'goal', 'holds', ...(isCheck ? ['floor', 'above the floor'] : [])],
    results.goals.map(({ title, contestant, measured, goal, holds, floor, hasFallen }) => [
      title,
      titleOf(results, contestant),
      measured.median === undefined ? factor(measured) : withQuartiles(measured, factor),
      goal,
      yesOrNo(holds),
      ...(isCheck ? [factor(floor), floor === undefined ? '' : yesOrNo(!hasFallen)] : []),
    ]),
  );
}

const yesOrNo = (holds) => (holds ? 'yes' : 'NO');

export function toMarkdown(results) {
  const {
    date,
    machine,
    versions,
    rounds,
    seconds,
    connections,
    operations,
    memory,
    rules,
    owner,
    sessions,
    start,
    ruleStart,
  } = results;
  const sections = [
    '# Benchmark',
    `Written by \`npm run bench\` on ${date}. [The method](README.md) explains the figures.`,
    `Machine: ${machine}.\nVersions: ${Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}.`,
    `Figures are medians of ${rounds} rounds of ${seconds} s with ${connections} connections, with their quartiles. Ratios ` +
      'compare contestants on the same platform and database in the same round. All contestants run as deployed.',
    operations && `## Operations: times hand-written, and CPU time per request\n\n${overviewTable(results)}`,
    results.goals.length > 0 && `## Goals\n\n${goalsTable(results)}`,
    rules &&
      `## Number of rules (protected findById)\n\n${comparisonTable(results, rules, ['10 rules', '1,000 rules'])}`,
    owner && `## List without and with \`owner\`\n\n${comparisonTable(results, owner, ['without', 'with'])}`,
    sessions &&
      `## Protected findById without and with \`sessions\`\n\n${comparisonTable(results, sessions, ['without', 'with'])}`,
    start && `## Start with 500 resources\n\n${startTable(results)}`,
    ruleStart && `## Start with 10,000 rules\n\n${ruleStartTable(results)}`,
    memory && `## Memory\n\n${memoryTable(results)}`,
    ...(operations ?? []).map((operation) => `## ${operation.title}\n\n${operationTable(results, operation)}`),
  ];
  return `${sections.filter(Boolean).join('\n\n')}\n`;
}

/** A server that does not get its core was measured beside other processes, unless it waits for its database. */
export function findBusyMachine({ contestants, operations = [] }) {
  const onSqlite = new Set(contestants.filter(isOnSqlite).map(({ name }) => name));
  const rows = operations.flatMap((operation) => operation.rows).filter(({ contestant }) => onSqlite.has(contestant));
  const least = Math.min(...rows.map(({ busy }) => busy.median));
  if (least < QUIET)
    return `Warning: a server had ${Math.round(least * 100)} % of its core; other processes were running.`;
  return undefined;
}

/** One sentence: how many goals do not hold. */
export function summarizeGoals({ goals }) {
  if (goals.length === 0) return 'No goal was measured.';
  const missed = goals.filter(({ holds }) => !holds).length;
  return missed === 0 ? `All ${goals.length} goals hold.` : `${missed} of ${goals.length} goals do not hold.`;
}

/** One sentence: how many figures are below their floors. */
export function summarizeFloors({ goals }) {
  const checked = goals.filter(({ floor }) => floor !== undefined);
  const fallen = checked.filter(({ hasFallen }) => hasFallen);
  return `${fallen.length} of ${checked.length} figures are below nine tenths of the recorded ones.`;
}

export const readResults = () => JSON.parse(readFileSync(JSON_FILE, 'utf8'));

export function writeResults(results) {
  const round = (_, value) => (typeof value === 'number' ? Number(value.toPrecision(4)) : value);
  writeFileSync(JSON_FILE, `${JSON.stringify(results, round, 1)}\n`);
  writeReports(results);
}

export function writeReports(results) {
  writeFileSync(MARKDOWN_FILE, toMarkdown(results));
  writeReadme(results);
}

/** Replaces the text between the markers `bench:deployed` of README.md, where it has them. */
function writeReadme(results) {
  const readme = readFileSync(README_FILE, 'utf8');
  if (!DEPLOYED_SECTION.test(readme)) {
    console.log('README.md has no markers <!-- bench:deployed -->; its table was not written.');
    return;
  }
  // README compares with what a reader would write.
  const contestants = results.contestants.filter(({ kind }) => kind !== 'prototype');
  const text = [
    overviewTable({ ...results, contestants }),
    'How many times as fast as the hand-written controller on the same platform and database, with quartiles in brackets, ' +
      `and the processor time of a request. \`npm run bench\`, ${results.date}, Node ${results.versions.Node}, ${results.machine}.`,
  ].join('\n\n');
  writeFileSync(
    README_FILE,
    readme.replace(DEPLOYED_SECTION, (_, open, close) => `${open}\n\n${text}\n\n${close}`),
  );
}
