/** Installs the dependencies of the benchmark and of its peers, and runs it on the Node among them, whatever Node started it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';

const BENCH = import.meta.dirname;
/** Apart from the others: declarest describes its endpoints where @nestjs/swagger, which the peers need, is installed. */
const PEERS = join(BENCH, 'contestants/peers');
const NODE = join(BENCH, 'node_modules/node/bin/node');

export function installDependencies() {
  for (const folder of [BENCH, PEERS])
    if (needsInstall(folder)) execFileSync('npm', ['ci', '--loglevel=error'], { cwd: folder, stdio: 'inherit' });
}

/** Returns only on the Node of the dependencies. */
export function installAndUseNode() {
  installDependencies();
  const version = execFileSync(NODE, ['--version'], { encoding: 'utf8' }).trim();
  if (process.version === version) return;
  const { status, signal } = spawnSync(NODE, process.argv.slice(1), { stdio: 'inherit' });
  if (signal) console.error(`The benchmark was ended by ${signal}.`);
  process.exit(status ?? 1);
}

function needsInstall(folder) {
  const installed = join(folder, 'node_modules/.package-lock.json');
  return !existsSync(installed) || statSync(installed).mtimeMs < statSync(join(folder, 'package-lock.json')).mtimeMs;
}
