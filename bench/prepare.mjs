/** Builds and unpacks declarest as published, and compiles the contestants. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const BENCH = import.meta.dirname;
const DIST = join(BENCH, 'dist');
const MODULES = join(BENCH, 'node_modules');
const PEER_MODULES = join(BENCH, 'contestants/peers/node_modules');

/** @param folders checkouts of declarest; `dist/1` has the contestants of the second one, and so on */
export function prepare(folders) {
  for (const folder of folders) {
    console.log(`declarest of ${folder}`);
    run('npm', ['run', '--silent', 'build'], folder);
  }
  unpack(folders[0], join(MODULES, 'declarest'));
  rmSync(DIST, { recursive: true, force: true });
  run(process.execPath, [join(MODULES, 'typescript/bin/tsc'), '-p', 'tsconfig.json'], BENCH);
  symlinkSync(PEER_MODULES, join(DIST, '0/peers/node_modules'));
  for (const [index, folder] of folders.entries()) {
    if (index === 0) continue;
    const copy = join(DIST, String(index));
    cpSync(join(DIST, '0'), copy, { recursive: true });
    unpack(folder, join(copy, 'node_modules/declarest'));
  }
}

/** Beside its dependencies, so that all contestants share one Nest and one TypeORM. */
function unpack(declarest, target) {
  const folder = mkdtempSync(join(tmpdir(), 'declarest-bench-'));
  try {
    run('npm', ['pack', '--silent', '--pack-destination', folder], declarest);
    const [tarball] = readdirSync(folder);
    rmSync(target, { recursive: true, force: true });
    mkdirSync(target, { recursive: true });
    run('tar', ['-xzf', join(folder, tarball), '-C', target, '--strip-components=1'], BENCH);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const { dependencies } = packageJson(target);
  const missing = Object.keys(dependencies).filter((name) => !existsSync(join(MODULES, name)));
  if (missing.length > 0) throw new Error(`bench/package.json lacks dependencies of declarest: ${missing.join(', ')}`);
}

const packageJson = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

export const installedVersions = (names) =>
  Object.fromEntries(
    names.map((name) => {
      const folder = [MODULES, PEER_MODULES].map((modules) => join(modules, name)).find((each) => existsSync(each));
      return [name, packageJson(folder).version];
    }),
  );

/** Compilers print errors to stdout, which is shown only when they fail. */
function run(command, args, cwd) {
  try {
    execFileSync(command, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  } catch (error) {
    process.stderr.write(error.stdout);
    throw error;
  }
}
