// Installs the packed package into throw-away applications on other versions of Nest, TypeORM and Node, and runs one
// black-box suite (test/compat/suite.mjs) against each, and a suite on Jest in one of them (test/compat/e2e). Native modules are compiled for each Node, which is slow.
//
//     node scripts/compat.mjs                         everything, in a temporary folder
//     node scripts/compat.mjs --only nest11-express   combinations whose name holds this text; may be repeated
//     node scripts/compat.mjs --work <folder>         works there and leaves it, so that the next run installs less
//     node scripts/compat.mjs --write                 puts the results into docs/inside/compatibility.md
import { execFile, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { runSuite, SECRET } from '../test/compat/suite.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DOCUMENT = join(ROOT, 'docs', 'inside', 'compatibility.md');
const NODES = ['20', '22', '24', '26'];
const PLATFORMS = { express: '@nestjs/platform-express', fastify: '@nestjs/platform-fastify' };

/** The types of Node are those of the oldest supported version. */
const COMMON = { rxjs: '7', 'class-transformer': '0.5.1', '@types/node': '20' };
const nest = (version) => ({ '@nestjs/common': version, '@nestjs/core': version, '@nestjs/typeorm': version });
/** A stack with it runs an end-to-end suite too. */
const JEST = { jest: '30', '@swc/core': '1', '@swc/jest': '0.2', supertest: '7' };
const STACKS = {
  nest12: {
    module: 'ESM',
    driver: 'better-sqlite3',
    databaseType: 'better-sqlite3',
    dependencies: { ...nest('12'), typeorm: '1.1', 'better-sqlite3': '12', 'reflect-metadata': '0.2' },
    typescript: '6.0',
    classValidator: '0.15',
  },
  nest11: {
    module: 'CommonJS',
    driver: 'sqlite3',
    databaseType: 'sqlite',
    dependencies: { ...nest('11'), typeorm: '0.3', sqlite3: '5.1', 'reflect-metadata': '0.2' },
    typescript: '5.9',
    classValidator: '0.14',
  },
  'nest11-better': {
    module: 'CommonJS',
    driver: 'better-sqlite3',
    databaseType: 'better-sqlite3',
    dependencies: {
      ...nest('11'),
      ...JEST,
      '@nestjs/testing': '11',
      typeorm: '0.3',
      'better-sqlite3': '12',
      'reflect-metadata': '0.2',
    },
    typescript: '5.9',
    classValidator: '0.14',
  },
  /** The lowest versions of peers and dependencies. */
  lowest: {
    module: 'CommonJS',
    driver: 'sqlite3',
    databaseType: 'sqlite',
    dependencies: {
      ...nest('11.0.0'),
      typeorm: '0.3.20',
      sqlite3: '5.1',
      'reflect-metadata': '0.1.13',
      rxjs: '7.2.0',
      '@nestjs/jwt': '11.0.0',
      bcrypt: '6.0.0',
      'content-type': '2.1.0',
    },
    // The first version for Nest 11.
    platforms: { fastify: '11.0.3' },
    typescript: '5.9',
    classValidator: '0.13.2',
  },
};

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    work: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const combinations = Object.keys(STACKS).flatMap((stack) =>
  NODES.flatMap((node) =>
    Object.keys(PLATFORMS).map((platform) => ({ stack, node, platform, name: `${stack}-${platform}-node${node}` })),
  ),
);
const chosen = combinations.filter(({ name }) => flags.only?.some((text) => name.includes(text)) ?? true);
if (chosen.length === 0)
  exit(`--only: no such combination; there are ${combinations.map(({ name }) => name).join(', ')}`);
if (flags.write && chosen.length < combinations.length)
  exit('--write takes the results of all combinations: leave --only out');

const work = flags.work === undefined ? mkdtempSync(join(tmpdir(), 'declarest-compat-')) : resolve(flags.work);
mkdirSync(work, { recursive: true });
process.on('SIGINT', () => process.exit(130));
process.on('exit', () => flags.work ?? rmSync(work, { recursive: true, force: true }));

const npmCommand = join(await run('npm', ['root', '--global']), 'npm', 'bin', 'npm-cli.js');
const tarball = await pack();
const homes = new Map();
const results = [];
for (const combination of chosen) {
  console.log(`\n${combination.name}`);
  const result = await tryOut(combination);
  results.push({ ...combination, ...result });
  for (const { title, error } of result.checks) if (error !== undefined) console.log(`  FAILED ${title}: ${error}`);
  console.log(`  ${summary(result.checks)}`);
}
const table = tableOf(results);
console.log(`\n${table}`);
if (flags.write) write(table, driversOf(results));
process.exitCode = results.some(({ checks }) => checks.some(({ error }) => error !== undefined)) ? 1 : 0;

/** Builds and packs the package in another folder, so that `dist` stays as it is. */
async function pack() {
  const folder = join(work, 'package');
  rmSync(folder, { recursive: true, force: true });
  await run(process.execPath, [
    join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'),
    '--project',
    join(ROOT, 'tsconfig.build.json'),
    '--outDir',
    join(folder, 'dist'),
  ]);
  for (const name of ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'SECURITY.md'])
    cpSync(join(ROOT, name), join(folder, name));
  const printed = await npm(process.execPath, folder, [
    'pack',
    '--json',
    '--ignore-scripts',
    '--pack-destination',
    work,
  ]);
  // npm caches a tarball by its name.
  const named = join(work, `declarest-${Date.now()}.tgz`);
  renameSync(join(work, Object.values(JSON.parse(printed))[0].filename), named);
  return named;
}

/** @returns the installed versions and all checks; a check that stops the others is the last */
async function tryOut({ stack, node, platform }) {
  const checks = [];
  const folder = join(work, `${stack}-node${node}`);
  const { module, driver, databaseType, dependencies } = STACKS[stack];
  const check = async (title, test) => {
    try {
      await test();
      checks.push({ title });
    } catch (error) {
      checks.push({ title, error: error.message });
    }
    return checks.at(-1).error === undefined;
  };
  let tools;
  const installed = await check('installs', async () => {
    tools = await toolsOf(node, driver);
    declare(folder, stack, platform, node);
    await tools.npm(folder, 'install');
  });
  if (!installed) return { checks };
  const versions = versionsOf(folder, stack, platform, tools.version);
  await check('holds one valid copy of each peer', async () => {
    await tools.npm(folder, 'ls');
    const peers = ['@nestjs/common', '@nestjs/core', '@nestjs/typeorm', 'typeorm'];
    const paths = (await tools.npm(folder, 'ls', '--parseable', ...peers)).trim().split('\n');
    const copies = new Set(paths.filter((path) => peers.some((peer) => path.endsWith(join('node_modules', peer)))));
    if (copies.size !== peers.length) throw new Error([...copies].join(', '));
  });
  const tsc = (...options) => tools.node(folder, join('node_modules', 'typescript', 'bin', 'tsc'), ...options);
  if (!(await check(`compiles as ${module}`, () => tsc()))) return { checks, versions };
  if (module === 'CommonJS')
    await check('compiles with module: nodenext', () =>
      tsc('--noEmit', '--module', 'nodenext', '--moduleResolution', 'nodenext'),
    );
  const environment = { DATABASE_TYPE: databaseType, JWT_SECRET: SECRET };
  await check('starts without a warning of Node', async () => {
    const app = await start(tools.path, folder, { ...environment, MISTAKE: 'none' });
    await app.stop();
    if (/ExperimentalWarning|DeprecationWarning/.test(app.printed())) throw new Error(app.printed());
  });
  if ('jest' in dependencies)
    await check('passes an end-to-end suite on Jest', () =>
      run(tools.path, [join('node_modules', 'jest', 'bin', 'jest.js'), '--config', join('e2e', 'jest-e2e.json')], {
        cwd: folder,
        env: { PATH: process.env.PATH, ...environment },
      }),
    );
  checks.push(...(await runSuite((env) => start(tools.path, folder, { ...environment, ...env }))));
  return { checks, versions };
}

/** Installs this version of Node from npm; the package includes the headers for native modules. */
async function toolsOf(major, driver) {
  if (!homes.has(major)) homes.set(major, await installNode(major));
  const home = homes.get(major);
  const path = join(home, 'bin', 'node');
  const env = {
    PATH: [join(home, 'bin'), process.env.PATH].join(delimiter),
    npm_config_nodedir: home,
    npm_config_build_from_source: driver,
  };
  return {
    path,
    version: (await run(path, ['--version'])).slice(1),
    node: (cwd, ...args) => run(path, args, { cwd }),
    npm: (cwd, ...args) => npm(path, cwd, args, env),
  };
}

/** @returns the folder that holds `bin` and `include` */
async function installNode(major) {
  const name = `node-${process.platform}-${process.arch}`;
  await npm(process.execPath, work, ['install', '--prefix', join(work, `node${major}`), `${name}@${major}`]);
  return join(work, `node${major}`, 'node_modules', name);
}

/** Runs npm with a cache in the working folder. */
function npm(node, cwd, args, environment = {}) {
  const env = { ...process.env, ...environment, npm_config_cache: join(work, 'npm-cache') };
  return run(node, [npmCommand, ...args, '--no-audit', '--no-fund'], { cwd, env });
}

/**
 * Writes the application: the same sources for all, as ES modules or as CommonJS. On Node 22 and later it installs
 * better-sqlite3 13 as README says, although TypeORM's range ends at 12.
 */
function declare(folder, stack, platform, node) {
  const { module, driver, dependencies, platforms, typescript, classValidator } = STACKS[stack];
  const isEsm = module === 'ESM';
  const replaced = Number(node) >= 22 && driver === 'better-sqlite3' ? { [driver]: '13' } : {};
  const source = join(folder, 'app');
  for (const earlier of ['app', 'e2e', 'dist']) rmSync(join(folder, earlier), { recursive: true, force: true });
  for (const each of ['app', 'e2e'])
    cpSync(join(ROOT, 'test', 'compat', each), join(folder, each), { recursive: true });
  if (platform === 'fastify') renameSync(join(source, 'platform.fastify.ts'), join(source, 'platform.ts'));
  else rmSync(join(source, 'platform.fastify.ts'));
  const json = (name, value) => writeFileSync(join(folder, name), `${JSON.stringify(value, null, 2)}\n`);
  json('package.json', {
    private: true,
    type: isEsm ? 'module' : 'commonjs',
    dependencies: {
      ...COMMON,
      ...dependencies,
      [PLATFORMS[platform]]: platforms?.[platform] ?? dependencies['@nestjs/core'],
      'class-validator': classValidator,
      typescript,
      declarest: `file:${tarball}`,
      ...replaced,
    },
    ...(Object.keys(replaced).length > 0 && { overrides: { typeorm: replaced } }),
    allowScripts: { [driver]: true, bcrypt: true, '@swc/core': true },
  });
  json('tsconfig.json', {
    compilerOptions: {
      module: isEsm ? 'nodenext' : 'commonjs',
      target: 'es2023',
      types: ['node'],
      strict: true,
      skipLibCheck: true,
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
      rootDir: 'app',
      outDir: 'dist',
    },
    include: ['app'],
  });
}

/** Starts the compiled application on a free port. */
function start(node, cwd, environment) {
  const child = spawn(node, [join('dist', 'main.js')], { cwd, env: { PATH: process.env.PATH, ...environment } });
  let printed = '';
  const ended = new Promise((resolve) => child.on('close', resolve));
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), 60_000);
    const read = (bytes) => {
      printed += bytes;
      const url = /^listening at (\S+)/m.exec(printed)?.[1];
      if (url === undefined) return;
      clearTimeout(timer);
      const stop = async () => {
        child.kill();
        await ended;
      };
      resolve({ url, stop, printed: () => printed });
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void ended.then(() => {
      clearTimeout(timer);
      reject(new Error(printed));
    });
  });
}

function versionsOf(folder, stack, platform, node) {
  const version = (name) =>
    JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version;
  const { module, driver } = STACKS[stack];
  return {
    application: `Nest ${version('@nestjs/core')} as ${module}, TypeORM ${version('typeorm')}, ${driver}`,
    driver: `${driver} ${version(driver)}`,
    platform: `${platform} ${version(PLATFORMS[platform])}`,
    node,
  };
}

function summary(checks) {
  const failed = checks.filter(({ error }) => error !== undefined);
  return failed.length === 0 ? `${checks.length}` : `${checks.length - failed.length} passed, ${failed.length} failed`;
}

/** The versions of each driver, which depend on Node. */
function driversOf(all) {
  const known = new Map();
  for (const { node, versions } of all)
    if (versions) known.set(versions.driver, [...new Set([...(known.get(versions.driver) ?? []), node])]);
  return [...known].map(([driver, nodes]) => `${driver} on Node ${nodes.join(', ')}`).join('; ');
}

/** One row for each application and platform, one column for each Node; aligned as Prettier does. */
function tableOf(all) {
  const head = [
    'application',
    'platform',
    ...NODES.map((node) => `Node ${all.find((each) => each.node === node)?.versions?.node ?? node}`),
  ];
  const rows = [...new Set(all.map(({ stack, platform }) => `${stack} ${platform}`))].map((key) => {
    const [stack, platform] = key.split(' ');
    const row = all.filter((each) => each.stack === stack && each.platform === platform);
    const versions = row.find((each) => each.versions)?.versions;
    const cells = NODES.map((node) => summary(row.find((each) => each.node === node)?.checks ?? []));
    return [versions?.application ?? stack, versions?.platform ?? platform, ...cells];
  });
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column].length)));
  const line = (cells, filler = ' ') =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column], filler)).join(' | ')} |`;
  return [
    line(head),
    line(
      widths.map(() => ''),
      '-',
    ),
    ...rows.map((row) => line(row)),
  ].join('\n');
}

function write(table, drivers) {
  const [begin, end] = ['<!-- results -->', '<!-- end of results -->'];
  const text = readFileSync(DOCUMENT, 'utf8');
  const results = `${begin}\n\nRun on ${new Date().toISOString().slice(0, 10)}: ${drivers}.\n\n${table}\n\n${end}`;
  writeFileSync(
    DOCUMENT,
    `${text.slice(0, text.indexOf(begin))}${results}${text.slice(text.indexOf(end) + end.length)}`,
  );
}

/** @throws with the beginning of what the command printed */
async function run(command, args, options = {}) {
  try {
    const { stdout } = await promisify(execFile)(command, args, { maxBuffer: 64 * 1024 * 1024, ...options });
    return stdout.trim();
  } catch (error) {
    const printed = `${error.stdout ?? ''}${error.stderr ?? error.message}`.trim().split('\n');
    const telling = printed.filter((line) => !line.startsWith('npm warn'));
    throw new Error(telling.slice(0, 20).join('\n'), { cause: error });
  }
}

function exit(sentence) {
  console.error(sentence);
  process.exit(1);
}
