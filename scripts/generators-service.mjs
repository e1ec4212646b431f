// Runs the service of test/generators for a script, with an administrator.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

import { transform } from '@swc/core';

import { SQLITE_PACKAGE } from '../test/harness/sqlite.js';
import { SWC_OPTIONS } from '../test/harness/swc.js';

export const ADMIN = { email: 'boss@service.example', password: 'the boss of the service' };

const SOURCE = new URL('../test/generators/service.ts', import.meta.url);
const COMPILED = new URL('../test/generators/dist/service.js', import.meta.url);

/** The packages are those that were built. @returns its address, its OpenAPI document, and `close` */
export async function startGeneratorsService() {
  const { code } = await transform(readFileSync(SOURCE, 'utf8'), { ...SWC_OPTIONS, filename: fileURLToPath(SOURCE) });
  mkdirSync(new URL('.', COMPILED), { recursive: true });
  writeFileSync(COMPILED, code);
  const { startService } = await import(COMPILED.href);
  return startService(createRequire(import.meta.url)(SQLITE_PACKAGE), ADMIN);
}
