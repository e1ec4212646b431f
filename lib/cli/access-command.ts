/** `declarest access`: prints the access table, or compares it with a snapshot. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describeAccess } from '../access/access.js';
import type { AccessRow } from '../access/access-rows.js';
import { compareAccess, type AccessChange } from './access-changes.js';
import { formatChanges, formatTable } from './access-output.js';
import { readSnapshot, writeSnapshot } from './access-snapshot.js';
import type { AccessCommand } from './arguments.js';
import { CommandError, reasonOf } from './command-error.js';
import { compileApplication } from './compile-application.js';
import { loadModule } from './load-module.js';

export interface Outcome {
  readonly stdout: string;
  readonly code: 0 | 1;
}

/** @throws CommandError */
export async function runAccess({ module, platform, format, check, update }: AccessCommand): Promise<Outcome> {
  // Read before the application is created, which takes longer.
  const before = check === undefined ? undefined : loadSnapshot(check, update);
  const { rows, policy } = await compileApplication(await loadModule(module), platform);
  if (check === undefined) return { stdout: formatTable(rows, format), code: 0 };
  const defaultAccess = describeAccess(policy.fallback, () => []);
  const changes = before ? compareAccess(before, rows, defaultAccess) : [];
  return update ? updateSnapshot(check, rows, changes) : checkSnapshot(check, changes);
}

function updateSnapshot(file: string, rows: readonly AccessRow[], changes: readonly AccessChange[]): Outcome {
  try {
    writeFileSync(file, writeSnapshot(rows));
  } catch (cause) {
    throw new CommandError(`${JSON.stringify(file)} cannot be written: ${reasonOf(cause)}.`, { cause });
  }
  return { stdout: `${formatChanges(changes)}Wrote ${rows.length} rows to ${file}.\n`, code: 0 };
}

function checkSnapshot(file: string, changes: readonly AccessChange[]): Outcome {
  const wider = changes.filter(({ kind }) => kind === 'wider').length;
  const verdict =
    wider > 0
      ? `Access became wider than in ${file} in ${wider} ${wider === 1 ? 'place' : 'places'}. Accept it with --update.`
      : changes.length > 0
        ? `Access did not become wider than in ${file}. Record the changes with --update.`
        : `Access is the same as in ${file}.`;
  return { stdout: `${formatChanges(changes)}${verdict}\n`, code: wider > 0 ? 1 : 0 };
}

/** Refuses a file with other content, so that `--update` never overwrites one. `undefined` where `--update` creates it. */
function loadSnapshot(file: string, update: boolean): readonly AccessRow[] | undefined {
  if (!existsSync(file)) {
    if (update) return undefined;
    throw new CommandError(`There is no snapshot ${JSON.stringify(file)}. Write it with --update.`);
  }
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new CommandError(`${JSON.stringify(file)} cannot be read: ${reasonOf(cause)}.`, { cause });
  }
  return readSnapshot(text, file);
}
