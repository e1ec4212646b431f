// Runs at the end of `npm ci`. On Node 20 npm compiles the SQLite driver, and leaves it out without a word where it cannot.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { SQLITE_PACKAGE } from '../test/harness/sqlite.js';

const TOOLS = ['python3', 'make', 'g++'];

try {
  createRequire(import.meta.url).resolve(SQLITE_PACKAGE);
} catch {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const found = TOOLS.filter((tool) => folders.some((folder) => existsSync(join(folder, tool))));
  const missing = TOOLS.filter((tool) => !found.includes(tool));
  console.error(
    missing.length > 0
      ? `Node ${process.versions.node} has to compile the SQLite driver of the tests and the sample application with python3, make and g++. Found: ${found.join(', ') || 'none'}. Missing: ${missing.join(', ')}. Install what is missing and run \`npm ci\` again, or use Node 22 or later, which compiles nothing.`
      : `npm could not compile the SQLite driver of the tests and the sample application, although python3, make and g++ are there: \`npm ci --foreground-scripts\` shows why. Node 22 or later compiles nothing.`,
  );
  process.exitCode = 1;
}
