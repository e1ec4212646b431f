/** What has to be there before anything is measured: the peers, the packed package among them, the compiled contestants. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BENCH, DECLAREST } from './paths.mjs';

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

/** As npm would install it, beside its peers, so that there is one Nest and one TypeORM for all. */
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
  const { dependencies } = installedPackage();
  const missing = Object.keys(dependencies).filter((name) => !existsSync(join(MODULES, name)));
  if (missing.length > 0) throw new Error(`bench/package.json lacks what declarest depends on: ${missing.join(', ')}`);
}

export function installedPackage(name = 'declarest') {
  return JSON.parse(readFileSync(join(MODULES, name, 'package.json'), 'utf8'));
}

/** Whether the measured version has an entry point, or an option of `AuthModule`. */
export const hasEntryPoint = (entry) => entry in installedPackage().exports;
export const hasAuthOption = (name) =>
  readFileSync(join(PACKAGE, 'dist/auth/auth.options.d.ts'), 'utf8').includes(`${name}?`);

/** Compilers complain on stdout: it is shown where they fail. */
function run(command, args, cwd) {
  try {
    execFileSync(command, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  } catch (error) {
    process.stderr.write(error.stdout);
    throw error;
  }
}
