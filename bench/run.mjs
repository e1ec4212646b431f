/** `npm run bench`: measures declarest against hand-written Nest controllers. `npm run bench -- --help` lists the options. */
import { readOptions } from './options.mjs';
import { installedVersions, prepare } from './prepare.mjs';

const VERSIONS = ['declarest', '@nestjs/core', 'express', 'fastify', 'typeorm', 'better-sqlite3', 'helmet', 'morgan'];

const options = readOptions();
if (options.report) {
  const { readResults, writeReports } = await import('./report.mjs');
  writeReports(readResults());
  process.exit(0);
}

prepare();
// These import dependencies that prepare() installs and files that it compiles.
const { chooseContestants } = await import('./contestants.mjs');
const { makeData } = await import('./data.mjs');
const { CONNECTIONS, describeMachine } = await import('./load.mjs');
const { measureArticles, measureLastResource, measureOperations, measureOwner, measureRules, measureStart } =
  await import('./measure.mjs');
const { findBusyMachine, summarizeFloors, toMarkdown, writeResults } = await import('./report.mjs');

makeData();
const contestants = chooseContestants(options);
const { parts, rounds, seconds } = options;
const start = performance.now();
const progress = (part) => console.log(`${Math.round((performance.now() - start) / 1000)} s: ${part}`);

const results = {
  date: new Date().toISOString().slice(0, 10),
  machine: describeMachine(),
  versions: { Node: process.versions.node, ...installedVersions(VERSIONS) },
  rounds,
  seconds,
  connections: CONNECTIONS,
  settings: {},
};
for (const setting of ['deployed', 'bare'].filter((part) => parts.includes(part))) {
  progress(setting);
  results.settings[setting] = await measureOperations(contestants, setting, options);
}
if (parts.includes('articles')) {
  progress('articles');
  results.settings.articles = await measureArticles(contestants, options);
}
const further = {
  owner: measureOwner,
  rules: measureRules,
  start: measureStart,
  last: measureLastResource,
};
for (const [part, measure] of Object.entries(further)) {
  if (!parts.includes(part)) continue;
  progress(part);
  results[part] = await measure(contestants, options);
}
progress('done');
console.log(`\n${toMarkdown(results)}\n${summarizeFloors(results)}`);
const warning = findBusyMachine(results);
if (warning) console.log(warning);
if (options.write) writeResults(results);
process.exit(0);
