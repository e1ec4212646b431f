// Prints "N passed, N failed" over all tests and smoke requests: count.mjs <exit status of the run> <smoke counts> <jest results>...
import { existsSync, readFileSync } from 'node:fs';

const [status, smokeFile, ...resultFiles] = process.argv.slice(2);
let passed = 0;
let failed = 0;

for (const resultsFile of resultFiles) {
  if (!existsSync(resultsFile)) continue;
  const results = JSON.parse(readFileSync(resultsFile, 'utf8'));
  passed += results.numPassedTests;
  // A test file that could not be loaded has no tests to count.
  failed += results.numFailedTests + results.numRuntimeErrorTestSuites;
}
if (existsSync(smokeFile)) {
  const [smokePassed, smokeFailed] = readFileSync(smokeFile, 'utf8').trim().split(' ').map(Number);
  passed += smokePassed;
  failed += smokeFailed;
}
// A step without tests of its own that failed is a failure too, and so is a run that tested nothing.
if (failed === 0 && (status !== '0' || passed === 0)) failed = 1;

console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
