// Tests the tests: each patch in test/exam/holes re-creates a published vulnerability, or a mistake of another project, in a
// copy of the sources, and a test must fail. Exits 1 when a patch passes every test, 2 when a patch cannot be tested.
//
//     npm run exam                   every patch
//     npm run exam -- --only 07,12   some of them
//     npm run exam -- --check        only whether each patch fits the sources, as CI asks
//     npm run exam -- --docs         writes the result into test/exam/README.md
//
// A failure counts only if the same test fails twice with the patch and passes without it. The spec files that a patch names
// run first, one by one; the others run only if those pass. Tests run on SQLite, without coverage.
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
} from 'node:fs';
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const HOLES = 'test/exam/holes';
const LOGINS = 'packages/declarest-logins';
const DOCS = 'test/exam/README.md';
const SURVIVED = '**survived**';
/** The holes that the issue asks for; those behind them are further ones. */
const ASKED_FOR = 20;
const MOST_MINUTES = 10;
/** Titles of failures that belong to a whole file. */
const NO_END = `no end within ${MOST_MINUTES} minutes`;
const NOT_RUN = 'the file does not run';

const { values } = parseArgs({
  options: { only: { type: 'string' }, docs: { type: 'boolean' }, check: { type: 'boolean' } },
});
const modules = realpathSync('node_modules');
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'declarest-exam-')));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));
const running = new Set();
let runs = 0;
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    for (const child of running) child.kill();
    process.exit(2);
  });

const holes = readHoles(values.only?.split(','));
const base = join(scratch, 'base');
const patched = join(scratch, 'patched');
await copyRepository(base);
const specs = await listSpecs();
/** By spec file. */
const redWithoutPatch = new Map();

// All of them, whichever are tested: a patch that no longer fits the sources is found at once.
for (const { number, tests, ...hole } of readHoles()) {
  await applyPatch({ number, ...hole }, base, '--check');
  const unknown = tests.find((name) => !specs.includes(name));
  if (unknown) refuse(`Hole ${number} names ${unknown}, which is not a spec file. Correct its line "# Tests:".`);
}
if (values.check) process.exit();
const { status, stdout: errors } = await typecheck(base);
if (status !== 0) refuse(`The sources do not pass the type-check without a hole:\n${errors}`);
cpSync(base, patched, { recursive: true, verbatimSymlinks: true });
await assertCompiles(holes);

const results = [];
for (const hole of holes) {
  const began = Date.now();
  const red = await examine(hole);
  results.push({ ...hole, red });
  const seconds = Math.round((Date.now() - began) / 1000);
  console.log(`${hole.number}  ${red ? 'red  ' : 'GREEN'}  ${String(seconds).padStart(4)} s  ${hole.name}`);
  console.log(red ? `      ${red.file}: ${red.title}` : `      survived: ${hole.hole}`);
}
for (const [file, titles] of redWithoutPatch)
  for (const title of titles) console.log(`Not counted, red without a patch: ${file}: ${title}`);
if (values.docs) await writeDocs();
console.log(`\n${summary(results)}`);
const survivors = results.filter(({ red }) => !red);
if (survivors.length > 0)
  console.error(`Survived: ${survivors.map(({ number, name }) => `${number}-${name}`).join(', ')}`);
process.exitCode = survivors.length > 0 ? 1 : 0;

function readHoles(only) {
  const all = readdirSync(HOLES)
    .filter((file) => file.endsWith('.patch'))
    .toSorted()
    .map((file) => {
      const [, number, name] = /^(\d+)-(.+)\.patch$/.exec(file) ?? refuse(`${file} is not named NN-name.patch`);
      const text = readFileSync(join(HOLES, file), 'utf8');
      const line = (label) =>
        new RegExp(`^# ${label}: (.+)$`, 'm').exec(text)?.[1] ?? refuse(`${file} has no "# ${label}:"`);
      return {
        number,
        name,
        hole: line('Hole'),
        source: line('Source'),
        tests: line('Tests').split(', '),
        files: [...text.matchAll(/^\+\+\+ b\/(.+)$/gm)].map(([, changed]) => changed),
        file,
      };
    });
  const unknown = only?.filter((number) => !all.some((hole) => hole.number === number)) ?? [];
  if (unknown.length > 0) refuse(`There is no hole ${unknown.join(', ')}`);
  return only ? all.filter(({ number }) => only.includes(number)) : all;
}

/** Made once, so that edits during the run have no effect. */
async function copyRepository(target) {
  const { stdout } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], '.');
  for (const file of stdout.split('\0')) {
    if (file === '' || !existsSync(file) || !lstatSync(file).isFile()) continue;
    mkdirSync(join(target, dirname(file)), { recursive: true });
    cpSync(file, join(target, file));
  }
  symlinkSync(modules, join(target, 'node_modules'));
}

/** @returns the first test that fails because of the patch; `undefined` where every test passes */
async function examine(hole) {
  await applyPatch(hole, patched);
  try {
    const named = hole.tests.filter((spec) => specs.includes(spec));
    return await firstFailure(named);
  } finally {
    await applyPatch(hole, patched, '--reverse');
  }
}

/** Runs the named spec files one by one, then all others, those of the same folders first. */
async function firstFailure(named) {
  for (const spec of named) {
    const red = await failureAmong([spec]);
    if (red) return red;
  }
  const folders = new Set(named.map(dirname));
  const others = specs.filter((spec) => !named.includes(spec));
  const near = others.filter((spec) => folders.has(dirname(spec)));
  return (await failureAmong(near)) ?? failureAmong(others.filter((spec) => !near.includes(spec)));
}

/** Patches of different files are checked together: a check of types takes longer than most tests. */
async function assertCompiles(left) {
  const known = new Set();
  const [together, others] = [[], []];
  for (const hole of left) {
    const isApart = hole.files.every((file) => !known.has(file));
    (isApart ? together : others).push(hole);
    if (isApart) hole.files.forEach((file) => known.add(file));
  }
  for (const hole of together) await applyPatch(hole, patched);
  const { status, stdout } = await typecheck(patched);
  if (status !== 0) refuse(`A hole does not pass the type-check:\n${stdout}`);
  for (const hole of together) await applyPatch(hole, patched, '--reverse');
  if (others.length > 0) await assertCompiles(others);
}

async function applyPatch({ number, file }, folder, ...how) {
  const { status, stderr } = await run('git', ['apply', ...how, join(base, HOLES, file)], folder);
  if (status !== 0) refuse(`Hole ${number} does not apply: write it anew.\n${stderr}`);
}

async function failureAmong(candidates) {
  const left = new Set(candidates);
  while (left.size > 0) {
    const failures = await failuresOf(patched, [...left]);
    if (failures.length === 0) return undefined;
    for (const failure of failures) if (await isCausedByPatch(failure)) return failure;
    // The run stopped at these files: the next one continues with the others.
    for (const { file } of failures) left.delete(file);
  }
  return undefined;
}

/** A failure on a busy machine does not count: the test must fail again, and pass without the patch. */
async function isCausedByPatch({ file, title }) {
  if (redWithoutPatch.get(file)?.has(title)) return false;
  const [again, without] = await Promise.all([
    failuresOf(patched, [file], onlyTest(title)),
    failuresWithoutPatch(file),
  ]);
  return again.some((failure) => failure.title === title) && !without.has(title);
}

async function failuresWithoutPatch(file) {
  const known = redWithoutPatch.get(file) ?? new Set((await failuresOf(base, [file])).map(({ title }) => title));
  redWithoutPatch.set(file, known);
  return known;
}

function onlyTest(title) {
  if (title === NO_END || title === NOT_RUN) return [];
  return ['--testNamePattern', `^${title.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')}$`];
}

async function failuresOf(folder, files, options = []) {
  const output = join(scratch, `failures-${++runs}.json`);
  const reporter = `--reporter=${resolve(folder, 'scripts/exam-reporter.mjs')}`;
  const { timedOut, stderr } = await vitest(folder, ['run', '--maxWorkers=2', reporter, ...options, ...files], output);
  if (existsSync(output))
    return JSON.parse(readFileSync(output, 'utf8')).map(({ file, title }) => ({ file: relative(folder, file), title }));
  if (timedOut) return [{ file: files[0] ?? '', title: NO_END }];
  return refuse(`Vitest broke off:\n${stderr.slice(-2000)}`);
}

async function listSpecs() {
  const { status, stdout, stderr } = await vitest(base, ['list', '--filesOnly', '--json']);
  if (status !== 0) refuse(`The specs cannot be listed:\n${stderr}`);
  return JSON.parse(stdout)
    .map(({ file }) => relative(base, file))
    .toSorted();
}

function vitest(copy, options, output = '') {
  const {
    TEST_POSTGRES_URL: _postgres,
    TEST_MYSQL_URL: _mysql,
    TEST_CHROMIUM: _chromium,
    ...environment
  } = process.env;
  return run(process.execPath, ['node_modules/vitest/vitest.mjs', ...options], copy, {
    env: { ...environment, EXAM_FAILURES: output },
    timeout: MOST_MINUTES * 60_000,
  });
}

/** @returns the first failure, or the last success */
async function typecheck(copy) {
  const check = (project) =>
    run(process.execPath, ['node_modules/typescript/bin/tsc', '--noEmit', '-p', project], copy);
  const result = await check('tsconfig.json');
  return result.status === 0 ? check(LOGINS) : result;
}

function run(command, options, cwd, further = {}) {
  return new Promise((done) => {
    const child = execFile(command, options, { cwd, maxBuffer: 2 ** 28, ...further }, (error, stdout, stderr) => {
      running.delete(child);
      done({ status: error ? (error.code ?? 1) : 0, timedOut: error?.killed === true, stdout, stderr });
    });
    running.add(child);
  });
}

/** `20 of 20, and 9 of 9 further` */
function summary(examined) {
  const further = examined.filter(({ number }) => Number(number) > ASKED_FOR);
  const asked = examined.filter((each) => !further.includes(each));
  const count = (some) => `${some.filter(({ red }) => red).length} of ${some.length}`;
  return [
    ...(asked.length > 0 ? [count(asked)] : []),
    ...(further.length > 0 ? [`${count(further)} further`] : []),
  ].join(', and ');
}

/** Rows of holes that were not examined this time stay as they are. */
async function writeDocs() {
  const { format, resolveConfig } = await import('prettier');
  const cell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
  const earlier = existsSync(DOCS) ? readFileSync(DOCS, 'utf8').match(/^\| \d+ .*$/gm) : [];
  const rows = new Map((earlier ?? []).map((row) => [/\d+/.exec(row)?.[0], row]));
  for (const { number, hole, source, red } of results) {
    const answer = red ? `\`${red.file.replace(/^test\//, '')}\`` : SURVIVED;
    rows.set(number, `| ${number} | ${cell(hole)} | ${cell(source)} | ${answer} |`);
  }
  const all = [...rows].toSorted(([a], [b]) => Number(a) - Number(b));
  const text = `# Seeded vulnerabilities

Each patch in \`${HOLES}\` re-creates a published vulnerability, or a mistake of another project, in \`lib/\` or \`${LOGINS}/\`.
They were designed from the sources, not from the tests.

\`npm run exam\` applies each patch to a copy of the repository, which must still pass the type check, and runs the tests on
SQLite: at least one must fail. A failure counts only if the same test fails twice with the patch and passes without it.
The spec files in the patch's line \`# Tests:\` run first; the others run only if those pass.
\`npm run exam -- --docs\` writes this page.

**${summary(all.map(([number, row]) => ({ number, red: !row.includes(SURVIVED) })))}.** Numbers above ${ASKED_FOR} are additional patches.

| # | vulnerability | source | spec that fails |
|---|---|---|---|
${all.map(([, row]) => row).join('\n')}
`;
  mkdirSync(dirname(DOCS), { recursive: true });
  writeFileSync(DOCS, await format(text, { ...(await resolveConfig(DOCS)), filepath: DOCS }));
}

function refuse(sentence) {
  console.error(sentence);
  process.exit(2);
}
