// Uses the standard components of react-admin and refine in Chromium, one page each, on the data providers. The pages, and
// the service that they talk to, are in `test/components`. Each step compares what the page shows with what the service
// stored or answered, and ends with a silent console.
//
//     TEST_CHROMIUM=/usr/bin/chromium npm run test:components
//
// COMPONENTS names the steps to run, by a part of their names, COMPONENT_COUNTS a file for the counts, and TEST_SCREENSHOTS
// a folder for pictures of failures.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { openDriver } from './components/driver.mjs';
import { useReactAdmin } from './components/react-admin.mjs';
import { useRefine } from './components/refine.mjs';
import { browserPath } from '../test/harness/browser.js';
import { SQLITE_PACKAGE } from '../test/harness/sqlite.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = join(ROOT, 'test', 'components');
const BIN = join('node_modules', '.bin');
const FRONT_ENDS = { 'react-admin': useReactAdmin, refine: useRefine };
const PROVIDERS = ['declarest-client', 'ra-data-declarest', 'refine-declarest'];
const { COMPONENTS, COMPONENT_COUNTS: countsFile, TEST_SCREENSHOTS } = process.env;

if (!browserPath) throw new Error('TEST_CHROMIUM must be the path of Chromium, got nothing. Install Chromium.');
const folders = Object.keys(FRONT_ENDS).map((name) => join(FOLDER, name));
const execute = promisify(execFile);
const run = async (command, args, cwd = ROOT) => {
  try {
    await execute(command, args, { cwd });
  } catch (cause) {
    throw new Error(`${command} ${args.join(' ')}\n${cause.stdout}${cause.stderr}`, { cause });
  }
};
for (const folder of folders)
  await run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel', 'error', '--prefer-offline'], folder);
await run('npm', ['run', 'build', ...PROVIDERS.flatMap((name) => ['--workspace', name])]);
await Promise.all([
  run(join(ROOT, BIN, 'tsc'), ['-p', join(FOLDER, 'service')]),
  ...folders.map(async (folder) => {
    await run(join(folder, BIN, 'tsc'), [], folder);
    await run(join(folder, BIN, 'vite'), ['build', '--logLevel', 'error'], folder);
  }),
]);

// Not the zone of the browser, so that times which lose their zone are found.
process.env.TZ = 'UTC';
const { startService } = await import('../test/components/service/dist/service.js');
const driver = createRequire(import.meta.url)(SQLITE_PACKAGE);

/** Each front end has a service and a browser of its own. */
const counts = await Promise.all(
  Object.entries(FRONT_ENDS).map(async ([name, use]) => {
    const service = await startService(join(FOLDER, name, 'dist'), driver);
    const browser = await openDriver(service, {
      executable: browserPath,
      chosen: COMPONENTS,
      screenshots: TEST_SCREENSHOTS,
    });
    await use(browser);
    await service.close();
    return browser.close();
  }),
);
const sum = (key) => counts.reduce((total, each) => total + each[key], 0);
const [passed, failed] = [sum('passed'), sum('failed')];
if (countsFile) writeFileSync(countsFile, `${passed} ${failed}\n`);
console.log(`components: ${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
