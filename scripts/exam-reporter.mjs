// Writes what failed to the file that EXAM_FAILURES names, and ends the run after the first file with a failure.
import { writeFileSync } from 'node:fs';

export default class FailuresReporter {
  #failures = [];

  onInit(vitest) {
    this.vitest = vitest;
  }

  onTestModuleEnd(module) {
    if (module.ok()) return;
    const failed = [...module.children.allTests('failed')].map(titleOf);
    const titles = failed.length > 0 ? failed : ['the file does not run'];
    this.#failures.push(...titles.map((title) => ({ file: module.moduleId, title })));
    void this.vitest.cancelCurrentRun('test-failure');
  }

  onTestRunEnd() {
    writeFileSync(process.env.EXAM_FAILURES, JSON.stringify(this.#failures));
  }
}

/** As `--testNamePattern` reads it. */
function titleOf(test) {
  return test.parent.type === 'module' ? test.name : `${titleOf(test.parent)} ${test.name}`;
}
