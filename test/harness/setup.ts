/** What every test file starts with. */
import { createRequire } from 'node:module';
import { Logger } from '@nestjs/common';
import { getMetadataArgsStorage } from 'typeorm';
import { SQLITE_PACKAGE } from './sqlite.js';

/** The modules of `lib/` and `test/` that the previous test file of this worker has loaded. */
vi.resetModules();

/** TypeORM would search the entities of all earlier test files for each column and relation. */
for (const list of Object.values(getMetadataArgsStorage())) if (Array.isArray(list)) list.length = 0;

/** TypeORM requires the driver by its name. */
const require = createRequire(import.meta.url);
require.cache[require.resolve('better-sqlite3')] ??= requiredModule(SQLITE_PACKAGE);

function requiredModule(name: string): NodeJS.Module | undefined {
  require(name);
  return require.cache[require.resolve(name)];
}

/** Nest keeps the log levels that an application of an earlier test file was given. */
Logger.overrideLogger(['log', 'error', 'warn', 'debug', 'verbose', 'fatal']);
/** Nest logs to the console until an application has a logger of its own. `startApp` of the harness gives it one. */
Logger.overrideLogger(false);

/** A failed test may leave its spies behind. */
afterAll(() => void vi.restoreAllMocks());
