// Prints how many tests passed and failed: count.mjs <results of `jest --json`, or a file that holds the two numbers>
import { existsSync, readFileSync } from 'node:fs';

const file = process.argv[2];
const text = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
if (text.startsWith('{')) {
  const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = JSON.parse(text);
  // A test file that cannot be loaded has no tests to count.
  console.log(`${numPassedTests} ${numFailedTests + numRuntimeErrorTestSuites}`);
} else {
  console.log(text || '0 0');
}
