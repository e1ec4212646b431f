// Counts the tests of each section of the contract, and fails when a section has none. Sections 7 to 10 are its second
// part, on generated CRUD.
//
//     node scripts/sections.mjs                counts the titles written in test/ and sample-app/test/
//     node scripts/sections.mjs results.json   counts the tests that passed in a run of `npx vitest run --reporter=json --outputFile=results.json`
//
// Titles name sections in brackets: '[2.3] …', '[2.3] [4.1] …' or '[2.3, 4.1] …'. In a run, a test also counts for the
// sections that its describe blocks name.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const SECTIONS = new Map([
  ['1', 'What is declared'],
  ['2.1', 'Authentication: user'],
  ['2.2', 'Authentication: options'],
  ['2.3', 'Authentication: endpoints'],
  ['2.4', 'Authentication: login and me'],
  ['2.5', 'Authentication: token'],
  ['2.6', 'Authentication: the user class as a resource'],
  ['2.7', 'Authentication: operations run as a user'],
  ['2.8', 'Authentication: transactions of the application'],
  ['2.9', 'Authentication: what lasts'],
  ['3.1', 'Rules: patterns'],
  ['3.2', 'Rules: meaning'],
  ['3.3', 'Rules: precedence'],
  ['3.4', 'Rules: routes matched by no rule'],
  ['3.5', 'Rules: bound to the route'],
  ['3.6', 'Rules: unknown paths, HEAD, order of refusals'],
  ['3.7', 'Rules: contexts other than HTTP'],
  ['4.1', 'CRUD: operations'],
  ['4.2', 'CRUD: options'],
  ['4.3', 'CRUD: envelope'],
  ['4.4', 'CRUD: pagination'],
  ['4.5', 'CRUD: search'],
  ['4.6', 'CRUD: writes'],
  ['4.7', 'CRUD: override'],
  ['4.8', 'CRUD: entity'],
  ['5', 'CORS middleware'],
  ['6', 'Both platforms, in real applications'],
  ['7', 'Lists: several sections together'],
  ['7.1', 'Lists: filter'],
  ['7.2', 'Lists: sort'],
  ['7.3', 'Lists: fields'],
  ['7.4', 'Lists: include'],
  ['7.5', 'Lists: cursor'],
  ['7.6', 'Lists: totals'],
  ['7.7', 'Lists: count and aggregate'],
  ['7.8', 'Lists: export'],
  ['7.9', 'Lists: limits'],
  ['8', 'Writes: several sections together'],
  ['8.1', 'Writes: PATCH'],
  ['8.2', 'Writes: batch'],
  ['8.3', 'Writes: many-to-many'],
  ['8.4', 'Writes: soft delete'],
  ['8.5', 'Writes: lost updates'],
  ['8.6', 'Writes: repeats'],
  ['8.7', 'Writes: nested endpoints'],
  ['8.8', 'Writes: validation'],
  ['8.9', 'Writes: operations and hooks'],
  ['9.1', 'Rows and fields: scope'],
  ['9.2', 'Rows and fields: owner'],
  ['9.3', 'Rows and fields: fields'],
  ['9.4', 'Rows and fields: non-interference'],
  ['9.5', 'Rows and fields: several resources on one entity'],
  ['10', 'Search with an index'],
]);

const SECTION = String.raw`\d+(?:\.\d)?`;
const TAG = String.raw`\[${SECTION}(?:, ?${SECTION})*\]`;

const LEADING_TAGS = new RegExp(String.raw`^(?:${TAG}\s*)+`);

/** Titles that begin with a tag. `rows[5]` in code is not a tag. */
function* titlesWritten() {
  const names = ['test', 'sample-app/test'].flatMap((folder) =>
    readdirSync(folder, { recursive: true }).map((name) => join(folder, name)),
  );
  for (const file of names) {
    if (!file.endsWith('spec.ts')) continue;
    const titles = readFileSync(file, 'utf8').matchAll(new RegExp(String.raw`['"\`]((?:${TAG}\s*)+)`, 'g'));
    for (const [, title] of titles) yield { file, title };
  }
}

function* testsPassed(resultsFile) {
  for (const { name, assertionResults } of JSON.parse(readFileSync(resultsFile, 'utf8')).testResults) {
    for (const { ancestorTitles, title, status } of assertionResults) {
      if (status !== 'passed') continue;
      // Brackets further behind are data of a table.
      const tags = [...ancestorTitles, title].map((each) => LEADING_TAGS.exec(each)?.[0] ?? '');
      yield { file: relative('.', name), title: tags.join(' ') };
    }
  }
}

const resultsFile = process.argv[2];
const found = new Map([...SECTIONS.keys()].map((section) => [section, { tests: 0, files: new Set() }]));
const unknown = new Set();

for (const { file, title } of resultsFile ? testsPassed(resultsFile) : titlesWritten()) {
  const sections = new Set(
    (title.match(new RegExp(TAG, 'g')) ?? []).flatMap((tag) => tag.match(new RegExp(SECTION, 'g'))),
  );
  for (const section of sections) {
    const entry = found.get(section);
    if (!entry) unknown.add(`${section} in ${file}`);
    entry?.files.add(file);
    if (entry) entry.tests += 1;
  }
}

for (const [section, { tests, files }] of found) {
  const where = tests === 0 ? 'NO TEST' : [...files].toSorted().join(', ');
  console.log(`${section.padEnd(4)} ${SECTIONS.get(section).padEnd(46)} ${String(tests).padStart(5)}  ${where}`);
}
const missing = [...found].filter(([, { tests }]) => tests === 0).map(([section]) => section);
if (missing.length > 0) console.error(`No test has the section ${missing.join(', ')}.`);
if (unknown.size > 0) console.error(`There is no section ${[...unknown].join('; ')}.`);
process.exitCode = missing.length + unknown.size > 0 ? 1 : 0;
