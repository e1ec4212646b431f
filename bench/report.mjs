/** Tables of Markdown for the terminal, bench/results.md and README.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BASE, CONTESTANTS } from './contestants.mjs';
import { otherLimits, throughputFloors } from './floors.mjs';

const JSON_FILE = join(import.meta.dirname, 'results.json');
const MARKDOWN_FILE = join(import.meta.dirname, 'results.md');
const README_FILE = join(import.meta.dirname, '..', 'README.md');
const DEPLOYED_SECTION = /(<!-- bench:deployed -->)[^]*?(<!-- \/bench:deployed -->)/;
/** The share of its core that a server has on a quiet machine. */
const QUIET = 0.85;

const SETTING_TITLES = { deployed: 'as deployed', articles: 'articles, as deployed', bare: 'nothing around it' };
const titleOf = (name) => CONTESTANTS.find((contestant) => contestant.name === name).title;

const integer = (number) => Math.round(number).toLocaleString('en-US');
const digits = (number) => (number >= 100 ? integer(number) : String(Number(number.toPrecision(3))));
const factor = (number) => number?.toFixed(2) ?? '';
const withRange = (figure, format) =>
  figure ? `${format(figure.median)} (${format(figure.min)}-${format(figure.max)})` : '';

function table(head, rows) {
  const cells = [head, ...rows].map((row) => row.map(String));
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column].length), 3));
  const line = (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  const [first, ...others] = cells.map(line);
  return [first, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...others].join('\n');
}

/** All operations of a setting: multiples of the base, whose requests per second stand in brackets. */
function overviewTable({ operations }) {
  const contestants = [...new Set(operations.flatMap(({ rows }) => rows.map(({ contestant }) => contestant)))];
  return table(
    ['', ...operations.map(({ title }) => title)],
    contestants.map((name) => [
      titleOf(name),
      ...operations.map(({ rows }) => {
        const { ratio, perSecond } = rows.find(({ contestant }) => contestant === name);
        if (!ratio || name === BASE) return `1 (${integer(perSecond.median)}/s)`;
        return ratio.median.toFixed(1);
      }),
    ]),
  );
}

function operationTable({ rows }) {
  return table(
    ['', 'req/s (min-max)', 'µs CPU/req', 'p50 ms', 'p99 ms', 'times base (min-max)', 'of prototype', 'core in use'],
    rows.map(({ contestant, perSecond, cpu, p50, p99, ratio, ofPrototype, busy }) => [
      titleOf(contestant),
      withRange(perSecond, integer),
      digits(cpu),
      digits(p50),
      digits(p99),
      withRange(ratio, factor),
      factor(ofPrototype?.median),
      `${Math.round(busy * 100)} %`,
    ]),
  );
}

function memoryTable({ memory }) {
  const base = memory.find(({ contestant }) => contestant === BASE);
  return table(
    ['', 'idle, MiB', 'after load, MiB', 'after load, times base'],
    memory.map(({ contestant, idle, loaded }) => [
      titleOf(contestant),
      digits(idle),
      digits(loaded),
      base ? factor(loaded / base.loaded) : '',
    ]),
  );
}

const comparisonTable = (few, many) => (rows) =>
  table(
    ['', `${few}, req/s`, `${many}, req/s`, 'ratio (min-max)'],
    rows.map((row) => [titleOf(row.contestant), integer(row.few), integer(row.many), withRange(row.ratio, factor)]),
  );

function startTable(rows) {
  return table(
    ['', 'first response, ms (min-max)', 'RSS, MiB', 'times hand-written, same platform (min-max)'],
    rows.map(({ contestant, milliseconds, rss, ratio }) => [
      titleOf(contestant),
      withRange(milliseconds, integer),
      digits(rss),
      withRange(ratio, factor),
    ]),
  );
}

const toAnswer = (holds) => (holds ? 'yes' : 'NO');

function floorsTable(rows) {
  return table(
    ['', 'contestant', 'times base', 'floor', 'of prototype', 'floor', 'holds'],
    rows.map(({ title, contestant, ratio, floor, ofPrototype, prototypeFloor, holds }) => [
      title,
      titleOf(contestant),
      factor(ratio),
      floor,
      factor(ofPrototype),
      prototypeFloor,
      toAnswer(holds),
    ]),
  );
}

function limitsTable(rows) {
  return table(
    ['', 'contestant', 'measured', 'required', 'holds'],
    rows.map(({ title, contestant, measured, required, holds }) => [
      title,
      titleOf(contestant),
      factor(measured),
      required,
      toAnswer(holds),
    ]),
  );
}

export function toMarkdown(results) {
  const { date, machine, versions, rounds, seconds, connections, settings, rules, owner, start, last } = results;
  const names = Object.keys(SETTING_TITLES).filter((name) => name in settings);
  const limits = otherLimits(results);
  const sections = [
    '# Benchmark',
    `Written by \`npm run bench\` on ${date}. [The method](../docs/internals/benchmark-method.md) explains the figures.`,
    `Machine: ${machine}.\nVersions: ${Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}.`,
    `Figures are medians of ${rounds} rounds of ${seconds} s with ${connections} connections; ratios are taken within a round. ` +
      `The base is the hand-written Nest controller on Express (\`${BASE}\`).`,
    ...names.flatMap((name) => [
      `## Throughput, ${SETTING_TITLES[name]} (times base)\n\n${overviewTable(settings[name])}`,
      floorsTable(throughputFloors(name, settings[name])),
    ]),
    limits.length > 0 && `## Other limits\n\n${limitsTable(limits)}`,
    rules &&
      `## Number of rules (protected findById, as deployed)\n\n${comparisonTable('10 rules', '1,000 rules')(rules)}`,
    owner && `## List without and with \`owner\` (as deployed)\n\n${comparisonTable('without', 'with')(owner)}`,
    start && `## Start with 500 resources (as deployed)\n\n${startTable(start)}`,
    last && `## First and last resource (findById, as deployed)\n\n${comparisonTable('first', 'last')(last)}`,
    ...names.map((name) => `## Memory, ${SETTING_TITLES[name]}\n\n${memoryTable(settings[name])}`),
    ...names.flatMap((name) =>
      settings[name].operations.map(
        (operation) => `## ${operation.title}, ${SETTING_TITLES[name]}\n\n${operationTable(operation)}`,
      ),
    ),
  ];
  return `${sections.filter(Boolean).join('\n\n')}\n`;
}

/** A server that does not get its core was measured beside other processes. */
export function findBusyMachine({ settings }) {
  const bases = Object.values(settings).flatMap(({ operations }) =>
    operations.flatMap(({ rows }) => rows.filter(({ contestant }) => contestant === BASE)),
  );
  const least = Math.min(...bases.map(({ busy }) => busy));
  if (least < QUIET)
    return `Warning: ${BASE} had ${Math.round(least * 100)} % of its core; end other processes and measure again.`;
  return undefined;
}

/** One sentence: how many floors and limits do not hold. */
export function summarizeFloors(results) {
  const floors = Object.entries(results.settings).flatMap(([name, setting]) => throughputFloors(name, setting));
  const all = [...floors, ...otherLimits(results)];
  const missed = all.filter(({ holds }) => !holds).length;
  return missed === 0 ? `All ${all.length} floors hold.` : `${missed} of ${all.length} floors do not hold.`;
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
function writeReadme({ settings, machine, date }) {
  const readme = readFileSync(README_FILE, 'utf8');
  if (!DEPLOYED_SECTION.test(readme)) {
    console.log('README.md has no markers <!-- bench:deployed -->; its table was not written.');
    return;
  }
  const text = [
    overviewTable(settings.deployed),
    `Multiples of the hand-written controller on Express; in brackets its requests per second. \`npm run bench\`, ${date}, ${machine}.`,
  ].join('\n\n');
  writeFileSync(
    README_FILE,
    readme.replace(DEPLOYED_SECTION, (_, open, close) => `${open}\n\n${text}\n\n${close}`),
  );
}
