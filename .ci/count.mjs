// Prints how many tests passed and failed: count.mjs <results of Vitest as JSON, or a file that holds the two numbers>
import { existsSync, readFileSync } from 'node:fs';

const file = process.argv[2];
const text = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
if (text.startsWith('{')) {
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(text);
  // A test file that cannot be loaded has no tests to count.
  const notLoaded = testResults.filter(
    ({ status, assertionResults: tests }) => status === 'failed' && tests.every((test) => test.status !== 'failed'),
  );
  console.log(`${numPassedTests} ${numFailedTests + notLoaded.length}`);
} else {
  console.log(text || '0 0');
}
