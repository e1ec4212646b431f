// Installs packages that Nest developers use beside the packed package, and runs one list of checks in an application with
// each of them, on Express and on Fastify. scripts/neighbours/rows.mjs lists the neighbours.
//
//     node scripts/neighbours.mjs                    all, in a temporary folder
//     node scripts/neighbours.mjs --only throttler   neighbours whose name holds this text; may be repeated
//     node scripts/neighbours.mjs --work <folder>    works there and leaves it, so that the next run installs less
import { execFile, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { transform } from '@swc/core';
import { SWC_OPTIONS } from '../test/harness/swc.js';
import { runChecks } from './neighbours/checks.mjs';
import { rows } from './neighbours/rows.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SOURCES = join(ROOT, 'scripts', 'neighbours');
const NODE = Number.parseInt(process.versions.node, 10);
/** What the application itself needs. */
const SHOP = {
  '@nestjs/common': '12.5.1',
  '@nestjs/core': '12.5.1',
  '@nestjs/platform-express': '12.5.1',
  '@nestjs/platform-fastify': '12.5.0',
  '@nestjs/typeorm': '12.0.2',
  typeorm: '1.1.1',
  'better-sqlite3': NODE < 22 ? '12.11.1' : '13.2.0',
  'reflect-metadata': '0.2.2',
  rxjs: '7.8.2',
  'class-validator': '0.15.1',
  'class-transformer': '0.5.1',
};

const { values: flags } = parseArgs({
  options: { only: { type: 'string', multiple: true }, work: { type: 'string' } },
});
const chosen = rows.filter(({ name }) => flags.only?.some((text) => name.includes(text)) ?? true);
if (chosen.length === 0) {
  console.error(`--only: no such neighbour; there are ${rows.map(({ name }) => name).join('; ')}`);
  process.exit(1);
}
const work = flags.work === undefined ? mkdtempSync(join(tmpdir(), 'declarest-neighbours-')) : resolve(flags.work);
mkdirSync(work, { recursive: true });
process.on('SIGINT', () => process.exit(130));
process.on('exit', () => flags.work ?? rmSync(work, { recursive: true, force: true }));

await install();
const hasRedis = await isOpen(Number(process.env.REDIS_PORT ?? 6379));
for (const row of chosen) {
  const reason =
    NODE < (row.minNode ?? 0) ? `needs Node ${row.minNode}` : row.needsRedis && !hasRedis ? 'needs Redis' : undefined;
  if (reason) {
    console.log(`${row.name}: left out, it ${reason}`);
    continue;
  }
  const lines = [];
  const details = [];
  for (const platform of ['express', 'fastify']) {
    const results = await tryOut(row, platform);
    const failed = results.filter(({ error }) => error !== undefined);
    lines.push(`${platform} ${results.length - failed.length}/${results.length}`);
    for (const { title, error } of failed) {
      const documented = row.reasons?.[title];
      details.push(`  ${platform}: ${title}: ${documented ?? error}`);
      if (documented === undefined) process.exitCode = 1;
    }
  }
  console.log([`${row.name}: ${lines.join(', ')}`, ...details].join('\n'));
}

/** One folder for all rows: the packed package, pinned neighbours, and the compiled application. */
async function install() {
  const run = (file, args, cwd = work) => promisify(execFile)(file, args, { cwd, maxBuffer: 64 * 1024 * 1024 });
  const packed = join(work, 'package');
  rmSync(packed, { recursive: true, force: true });
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  await run(process.execPath, [tsc, '--project', join(ROOT, 'tsconfig.build.json'), '--outDir', join(packed, 'dist')]);
  cpSync(join(ROOT, 'package.json'), join(packed, 'package.json'));
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', work], packed);
  // npm caches a tarball by its name.
  const filename = `declarest-${Date.now()}.tgz`;
  renameSync(join(work, Object.values(JSON.parse(stdout))[0].filename), join(work, filename));
  const dependencies = Object.assign({ ...SHOP }, ...rows.map(({ packages }) => packages));
  const declared = {
    private: true,
    type: 'module',
    dependencies: { ...dependencies, declarest: `file:${filename}` },
    allowScripts: { 'better-sqlite3': true, bcrypt: true },
  };
  writeFileSync(join(work, 'package.json'), JSON.stringify(declared, null, 2));
  // Some neighbours have older peers than Nest 12, and work with it.
  await run('npm', ['install', '--prefer-offline', '--legacy-peer-deps', '--no-audit', '--no-fund']);
  cpSync(join(SOURCES, 'rows.mjs'), join(work, 'rows.mjs'));
  const shop = readFileSync(join(SOURCES, 'shop.ts'), 'utf8');
  writeFileSync(join(work, 'shop.js'), (await transform(shop, SWC_OPTIONS)).code);
}

/** @returns the results of all checks in one application; a start that fails is one failed check */
async function tryOut(row, platform) {
  let app;
  try {
    app = await start(row, platform);
    const { url, callers } = app.told;
    const works = row.works && ((tools) => row.works({ ...tools, printed: app.printed }));
    return await runChecks(url, callers, works);
  } catch (error) {
    return [{ title: 'starts', error: error.message }];
  } finally {
    await app?.stop();
  }
}

/** Starts the application on a free port, in a process of its own, since some neighbours change others. */
function start({ name, node = [], env }, platform) {
  const child = spawn(process.execPath, [...node, 'shop.js', name, platform], {
    cwd: work,
    env: { ...process.env, NODE_NO_WARNINGS: '1', ...env },
  });
  let text = '';
  const ended = new Promise((done) => child.on('close', done));
  /** What the application has printed, after waiting for a part of it. */
  const printed = async (pattern) => {
    for (let waited = 0; waited < 5000 && !pattern.test(text); waited += 100)
      await new Promise((done) => setTimeout(done, 100));
    return text;
  };
  return new Promise((done, reject) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), 90_000);
    const stop = async () => {
      child.kill('SIGKILL');
      await ended;
    };
    const read = (bytes) => {
      text += bytes;
      const told = /^listening (.*)$/m.exec(text)?.[1];
      if (told === undefined) return;
      clearTimeout(timer);
      done({ told: JSON.parse(told), printed, stop });
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void ended.then(() => {
      clearTimeout(timer);
      reject(new Error(text.slice(0, 2000) || 'The application ended without a message.'));
    });
  });
}

function isOpen(port) {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1');
    socket
      .on('error', () => done(false))
      .on('connect', () => {
        socket.destroy();
        done(true);
      });
  });
}
