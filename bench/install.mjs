/** Installs the dependencies of the benchmark, and runs it on the Node among them, whatever Node started it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';

const BENCH = import.meta.dirname;
const NODE = join(BENCH, 'node_modules/node/bin/node');

/** Returns only on the Node of the dependencies. */
export function installAndUseNode() {
  if (needsInstall()) execFileSync('npm', ['ci', '--loglevel=error'], { cwd: BENCH, stdio: 'inherit' });
  const version = execFileSync(NODE, ['--version'], { encoding: 'utf8' }).trim();
  if (process.version === version) return;
  const { status, signal } = spawnSync(NODE, process.argv.slice(1), { stdio: 'inherit' });
  if (signal) console.error(`The benchmark was ended by ${signal}.`);
  process.exit(status ?? 1);
}

function needsInstall() {
  const installed = join(BENCH, 'node_modules/.package-lock.json');
  return !existsSync(installed) || statSync(installed).mtimeMs < statSync(join(BENCH, 'package-lock.json')).mtimeMs;
}
