import { BROWSER, browserPath } from './browser.js';
import { SERVERS } from './servers.js';

/** Says at the end of a run which suites were left out, so that a green run is not read as more than it is. */
export default class LeftOutReporter {
  onRunComplete() {
    for (const { database, variable, example } of SERVERS) {
      if (process.env[variable]) continue;
      process.stderr.write(`Left out: the suites on ${database}. Set ${variable}, like ${example}, to run them.\n`);
    }
    if (browserPath) return;
    const { variable, example } = BROWSER;
    process.stderr.write(`Left out: the suite in a real browser. Set ${variable}, like ${example}, to run it.\n`);
  }
}
