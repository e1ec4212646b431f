// Writes what failed to the file that EXAM_FAILURES names, also where `--bail` ends the run (then Jest writes no JSON).
import { writeFileSync } from 'node:fs';

export default class FailuresReporter {
  onRunComplete(_contexts, { testResults }) {
    const failures = testResults
      .filter(({ failureMessage }) => failureMessage)
      .toSorted((a, b) => a.perfStats.end - b.perfStats.end)
      .flatMap(({ testFilePath, testResults: tests }) => {
        const failed = tests.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName);
        return (failed.length > 0 ? failed : ['the file does not run']).map((title) => ({ file: testFilePath, title }));
      });
    writeFileSync(process.env.EXAM_FAILURES, JSON.stringify(failures));
  }
}
