/** Installs the dependencies of the benchmark, builds and unpacks the package as published, and compiles the contestants. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const BENCH = import.meta.dirname;
const DECLAREST = resolve(process.env.DECLAREST_DIR ?? join(BENCH, '..'));
const MODULES = join(BENCH, 'node_modules');
const PACKAGE = join(MODULES, 'declarest');

export function prepare() {
  if (needsInstall()) run('npm', ['ci', '--loglevel=error'], BENCH);
  console.log(`declarest of ${DECLAREST}`);
  run('npm', ['run', '--silent', 'build'], DECLAREST);
  unpack();
  rmSync(join(BENCH, 'dist'), { recursive: true, force: true });
  run(process.execPath, [join(MODULES, 'typescript/bin/tsc'), '-p', 'tsconfig.json'], BENCH);
}

function needsInstall() {
  const installed = join(MODULES, '.package-lock.json');
  return !existsSync(installed) || statSync(installed).mtimeMs < statSync(join(BENCH, 'package-lock.json')).mtimeMs;
}

/** Into node_modules, beside its dependencies, so that all contestants share one Nest and one TypeORM. */
function unpack() {
  const folder = mkdtempSync(join(tmpdir(), 'declarest-bench-'));
  try {
    run('npm', ['pack', '--silent', '--pack-destination', folder], DECLAREST);
    const [tarball] = readdirSync(folder);
    rmSync(PACKAGE, { recursive: true, force: true });
    mkdirSync(PACKAGE);
    run('tar', ['-xzf', join(folder, tarball), '-C', PACKAGE, '--strip-components=1'], BENCH);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const missing = Object.keys(packageJson('declarest').dependencies).filter((name) => !existsSync(join(MODULES, name)));
  if (missing.length > 0) throw new Error(`bench/package.json lacks dependencies of declarest: ${missing.join(', ')}`);
}

const packageJson = (name) => JSON.parse(readFileSync(join(MODULES, name, 'package.json'), 'utf8'));

export const installedVersions = (names) => Object.fromEntries(names.map((name) => [name, packageJson(name).version]));

/** Compilers print errors to stdout, which is shown only when they fail. */
function run(command, args, cwd) {
  try {
    execFileSync(command, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  } catch (error) {
    process.stderr.write(error.stdout);
    throw error;
  }
}
