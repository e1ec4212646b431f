/**
 * `npm run bench`: declarest beside what one would take instead. `npm run bench -- --help` names the options.
 *
 * Every contestant is a process of its own on one core, and is asked over 48 kept connections from another core. Answers
 * are held against each other before they are timed. Nothing is asserted: the numbers depend on the machine, and even
 * the ratios move. The package is built, packed and installed beside its peers in bench/node_modules, so that what is
 * measured is what is published.
 */
import { machine } from './machine.mjs';
import { readOptions } from './options.mjs';
import { prepare } from './prepare.mjs';

const options = readOptions();
prepare();
// These import what has just been installed and compiled.
const { chosenContestants } = await import('./contestants.mjs');
const { measureAll } = await import('./sections.mjs');
const { summaryTable } = await import('./report.mjs');
const { checkResults, writeResults } = await import('./results.mjs');

console.log(machine());
const results = await measureAll(chosenContestants(options.contestants), options);
if (results.operations.length > 0) console.log(`\n${summaryTable(results.operations)}`);
if (options.check) checkResults(results);
if (options.write) writeResults(results);
process.exit(0);
