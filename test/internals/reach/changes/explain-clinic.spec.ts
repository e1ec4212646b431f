/** What is explained of a request, and what the table says of its operation. */
import { compileAccess, inApplication } from '../../../../lib/cli/compile-application.js';
import { explainReach } from '../../../../lib/reach/explain-reach.js';
import { compileReach } from '../../../../lib/reach/reach.js';
import { describeRows } from '../../../../lib/reach/rows.js';
import { ONE_PLATFORM } from '../../../harness/platforms.js';
import { clinicModule } from './clinic.js';

it.each(ONE_PLATFORM)('explains for every caller the rows of the table on %s', async (platform) => {
  const compared = await inApplication(clinicModule(), platform, async (app) => {
    const compiled = await compileAccess(app);
    const { callers, resources } = await compileReach(app, compiled);
    const pairs: [string, string, string][] = [];
    for (const { rows } of resources)
      for (const [operation, by] of Object.entries(rows))
        for (const caller of callers) {
          const said = describeRows(by[caller]!);
          // Rules refuse these before any record is read, and a policy is asked by the rules.
          if (said === 'none' || said.includes('policy ')) continue;
          const [method = '', path = ''] = operation.split(' ');
          const request = { method, path: path.replaceAll(/:\w+/g, '1') };
          const asker = {
            roles: caller === 'nobody' ? undefined : caller.split(' and '),
            id: undefined,
            claims: undefined,
          };
          const [line = ''] = await explainReach(app, compiled, request, asker);
          pairs.push([`${caller}: ${operation}`, `Rows: ${said}`, line]);
        }
    return pairs;
  });
  expect(compared.length).toBeGreaterThan(150);
  expect(compared.filter(([, said, explained]) => said !== explained)).toEqual([]);
});
