// Uses the standard components of react-admin and refine in Chromium, one page each, on the data providers. The pages, and
// the service that they talk to, are in `test/components`. Each step compares what the page shows with what the service
// stored or answered, and ends with a silent console.
//
//     TEST_CHROMIUM=/usr/bin/chromium npm run test:components
//
// COMPONENTS names the steps to run, by a part of their names, COMPONENT_COUNTS a file for the counts, and TEST_SCREENSHOTS
// a folder for pictures of failures.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { openDriver } from './components/driver.mjs';
import { useReactAdmin } from './components/react-admin.mjs';
import { useRefine } from './components/refine.mjs';
import { browserPath } from '../test/harness/browser.js';
import { SQLITE_PACKAGE } from '../test/harness/sqlite.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = join(ROOT, 'test', 'components');
const FRONT_ENDS = ['react-admin', 'refine'];
const PROVIDERS = ['declarest-client', 'ra-data-declarest', 'refine-declarest'];
const { COMPONENTS, COMPONENT_COUNTS: countsFile, TEST_SCREENSHOTS } = process.env;

if (!browserPath) throw new Error('TEST_CHROMIUM must be the path of Chromium, got nothing. Install Chromium.');
const run = (command, args, cwd = ROOT) => execFileSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
run('npm', ['run', 'build', ...PROVIDERS.flatMap((name) => ['--workspace', name])]);
run('npx', ['tsc', '-p', join(FOLDER, 'service')]);
for (const name of FRONT_ENDS) {
  const folder = join(FOLDER, name);
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel', 'error', '--prefer-offline'], folder);
  run('npx', ['tsc'], folder);
  run('npx', ['vite', 'build', '--logLevel', 'error'], folder);
}

// Not the zone of the browser, so that times which lose their zone are found.
process.env.TZ = 'UTC';
const { startService } = await import('../test/components/service/dist/service.js');
const service = await startService(
  Object.fromEntries(FRONT_ENDS.map((name) => [`/${name}`, join(FOLDER, name, 'dist')])),
  createRequire(import.meta.url)(SQLITE_PACKAGE),
);
const driver = await openDriver(service, {
  executable: browserPath,
  chosen: COMPONENTS,
  screenshots: TEST_SCREENSHOTS,
});
await useReactAdmin(driver);
await useRefine(driver);
const { passed, failed } = await driver.close();
await service.close();
if (countsFile) writeFileSync(countsFile, `${passed} ${failed}\n`);
console.log(`components: ${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
