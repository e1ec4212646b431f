/** `npm run bench`: measures declarest against hand-written Nest controllers and its peers. `npm run bench -- --help` lists the options. */
import { installAndUseNode } from './install.mjs';
import { readOptions } from './options.mjs';
import { installedVersions, prepare } from './prepare.mjs';

const VERSIONS = [
  'declarest',
  '@nestjs/core',
  'express',
  'fastify',
  'typeorm',
  'better-sqlite3-13',
  'pg',
  'mysql2',
  'helmet',
  'morgan',
  '@kavo/nest',
  'nestjs-paginate',
  '@dataui/crud',
];

const options = readOptions();
if (options.report) {
  const { readResults, writeReports } = await import('./report.mjs');
  writeReports(readResults());
  process.exit(0);
}

installAndUseNode();
prepare(options.folders);
// These import dependencies and files that prepare() compiles.
const { chooseContestants, findUnmeasuredDatabases } = await import('./contestants.mjs');
const { makeData } = await import('./data.mjs');
const { serverVersions } = await import('./database-servers.mjs');
const { compareWithGoals, compareWithRecorded } = await import('./goals.mjs');
const { CONNECTIONS, describeMachine } = await import('./load.mjs');
const { measureOperations, measureOwner, measureRules, measureRuleStart, measureSessions, measureStart } =
  await import('./measure.mjs');
const { findBusyMachine, readResults, summarizeFloors, summarizeGoals, toMarkdown, writeResults } =
  await import('./report.mjs');

makeData();
const PARTS = {
  owner: measureOwner,
  rules: measureRules,
  sessions: measureSessions,
  start: measureStart,
  ruleStart: measureRuleStart,
};
const contestants = chooseContestants(options.contestants, options.builds);
const { parts, rounds, seconds } = options;
const start = performance.now();
const progress = (part) => console.log(`${Math.round((performance.now() - start) / 1000)} s: ${part}`);

const results = {
  date: new Date().toISOString().slice(0, 10),
  machine: describeMachine(),
  versions: {
    Node: process.versions.node,
    ...installedVersions(VERSIONS),
    ...(await serverVersions(new Set(contestants.map(({ database }) => database)))),
  },
  rounds,
  seconds,
  connections: CONNECTIONS,
  contestants: contestants.map(({ name, title, kind, database }) => ({ name, title, kind, database })),
};
const unmeasured = findUnmeasuredDatabases(options.contestants);
for (const sentence of unmeasured) console.log(sentence);
if (parts.includes('operations')) {
  progress('operations');
  Object.assign(results, await measureOperations(contestants, options));
}
for (const [part, measure] of Object.entries(PARTS)) {
  if (!parts.includes(part)) continue;
  progress(part);
  results[part] = await measure(contestants, options);
}
progress('done');
results.goals = compareWithGoals(results);
if (options.check) results.goals = compareWithRecorded(results.goals, readResults());
console.log(`\n${toMarkdown(results)}\n${summarizeGoals(results)}`);
if (options.check) console.log(summarizeFloors(results));
const warning = findBusyMachine(results);
if (warning) console.log(warning);
if (options.write && unmeasured.length === 0) writeResults(results);
process.exit(options.check && results.goals.some(({ hasFallen }) => hasFallen) ? 1 : 0);
