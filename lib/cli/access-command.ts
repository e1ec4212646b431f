/** `declarest access`: tells who reaches what, and whether that got wider. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describeAccess } from '../access/access.js';
import { AccessReport } from '../access/access-report.js';
import type { AccessRow } from '../access/access-rows.js';
import { SecurityRules } from '../access/security-rules.js';
import { compareAccess, type AccessChange } from './access-changes.js';
import { formatChanges, formatRows } from './access-output.js';
import { readSnapshot, writeSnapshot } from './access-snapshot.js';
import type { AccessCommand } from './arguments.js';
import { bootWithoutEffects } from './boot-without-effects.js';
import { CommandError, reasonOf } from './command-error.js';
import { loadModule } from './load-module.js';

export interface Outcome {
  readonly stdout: string;
  readonly code: 0 | 1;
}

/** @throws CommandError */
export async function runAccess({ module, platform, format, check, update }: AccessCommand): Promise<Outcome> {
  // Before the application, which takes its time: a snapshot that is none is told at once.
  const before = check === undefined ? [] : snapshotOf(check, update);
  const app = await bootWithoutEffects(() => loadModule(module), platform);
  const { rows } = app.get(AccessReport, { strict: false });
  if (check === undefined) return { stdout: formatRows(rows, format), code: 0 };
  const fallback = describeAccess(app.get(SecurityRules, { strict: false }).fallback(), () => []);
  const changes = before ? compareAccess(before, rows, fallback) : [];
  return update ? written(check, rows, changes) : checked(check, changes);
}

function written(file: string, rows: readonly AccessRow[], changes: readonly AccessChange[]): Outcome {
  try {
    writeFileSync(file, writeSnapshot(rows));
  } catch (cause) {
    throw new CommandError(`${JSON.stringify(file)} cannot be written: ${reasonOf(cause)}.`, { cause });
  }
  return { stdout: `${formatChanges(changes)}${rows.length} rows are written to ${file}.\n`, code: 0 };
}

function checked(file: string, changes: readonly AccessChange[]): Outcome {
  const wider = changes.filter(({ kind }) => kind === 'wider').length;
  const verdict =
    wider > 0
      ? `${wider} got wider than in ${file}; --update accepts that.`
      : changes.length > 0
        ? `Nothing got wider than in ${file}; --update notes what changed.`
        : `Nothing changed since ${file}.`;
  return { stdout: `${formatChanges(changes)}${verdict}\n`, code: wider > 0 ? 1 : 0 };
}

/** `undefined` where there is none yet, and one is to be written. Never writes over a file that holds something else. */
function snapshotOf(file: string, update: boolean): readonly AccessRow[] | undefined {
  if (!existsSync(file)) {
    if (update) return undefined;
    throw new CommandError(`There is no snapshot ${JSON.stringify(file)}: --update writes one.`);
  }
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new CommandError(`${JSON.stringify(file)} cannot be read: ${reasonOf(cause)}.`, { cause });
  }
  return readSnapshot(text, file);
}
