// Packs packages of this repository, and installs them in an empty folder as an application does.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** @returns what the command printed */
export const run = (command, args, cwd) => execFileSync(command, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });

/** @returns a folder that the end of the process removes */
export function emptyFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'declarest-packed-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Packs declarest from `dist/`. @returns what npm installs */
export const packDeclarest = (folder) => `./${pack(folder, '--ignore-scripts').filename}`;

/** Checks and packs a workspace that is built. @returns what npm installs */
export function packWorkspace(name, folder) {
  run('npx', ['publint', '--strict', join('packages', name)], ROOT);
  run('npx', ['attw', '--quiet', '--profile', 'esm-only', '--pack', join('packages', name)], ROOT);
  const { filename, files } = pack(folder, '--workspace', name);
  const others = files
    .map(({ path }) => path)
    .filter((path) => !/^(dist\/|static\/|LICENSE$|README\.md$|package\.json$)/.test(path));
  assert.deepEqual(others, [], `${name} must publish dist/, static/, LICENSE, README.md and package.json only.`);
  return `./${filename}`;
}

function pack(folder, ...args) {
  return Object.values(JSON.parse(run('npm', ['pack', '--json', '--pack-destination', folder, ...args], ROOT)))[0];
}

/** Installs packages into the folder, and compiles `source` to its file `use.js`. */
export function installAndCompile(folder, packages, source, { npm = [], settings = {}, compilerOptions = {} } = {}) {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', private: true, ...settings }));
  run('npm', ['install', '--no-audit', '--no-fund', '--loglevel', 'error', ...npm, ...packages], folder);
  writeFileSync(join(folder, 'use.ts'), source);
  const common = { module: 'nodenext', target: 'es2022', strict: true, exactOptionalPropertyTypes: true };
  const config = { compilerOptions: { ...common, skipLibCheck: true, ...compilerOptions }, include: ['use.ts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc')], { cwd: folder, stdio: 'inherit' });
}
