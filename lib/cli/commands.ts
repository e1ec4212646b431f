/** What each command of the command line does. */
import { writeFileSync } from 'node:fs';
import { describeAccess } from '../access/access.js';
import { describeExplanation, explain } from '../access/explain.js';
import { schemaStatements } from '../crud/nest/startup.js';
import { compareAccess, type AccessChange } from './access-changes.js';
import { formatChanges, formatTable, readSnapshot, writeSnapshot } from './access-output.js';
import type { ApplicationCommand, CommandOf, Outcome } from './arguments.js';
import { CommandError, reasonOf } from './command-error.js';
import { compileApplication, compileDocument, inApplication } from './compile-application.js';
import { loadModule } from './load-module.js';
import { runUser } from './user-command.js';

export function runCommand(command: ApplicationCommand): Promise<Outcome> {
  if (command.name === 'schema') return runSchema(command);
  if (command.name === 'openapi') return runDocument(command);
  if (command.name === 'user') return runUser(command);
  return command.name === 'access' ? runAccess(command) : runExplain(command);
}

export async function runAccess({ module, platform, format, check, update }: CommandOf<'access'>): Promise<Outcome> {
  // Read before the application is created, which takes longer.
  const before = check === undefined ? undefined : readSnapshot(check);
  if (check !== undefined && !before && !update)
    throw new CommandError(`There is no snapshot ${JSON.stringify(check)}. Write it with --update.`);
  const { rows, policy } = await compileApplication(await loadModule(module), platform);
  if (check === undefined) return { stdout: formatTable(rows, format), code: 0 };
  const defaultAccess = { access: describeAccess(policy.fallback, () => []), requirements: [] };
  const changes = before ? compareAccess(before, rows, defaultAccess) : [];
  if (!update) return checkSnapshot(check, changes);
  writeFile(check, writeSnapshot(rows));
  return { stdout: `${formatChanges(changes)}Wrote ${rows.length} rows to ${check}.\n`, code: 0 };
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

const UNKNOWN_ROUTES =
  'Note: routes that main.ts adds, such as Swagger or static files, are unknown, because the module file exports no function configure(app).';

export async function runExplain({ module, platform, method, path, roles }: CommandOf<'explain'>): Promise<Outcome> {
  const loaded = await loadModule(module);
  const compiled = await compileApplication(loaded, platform);
  const unknown = roles?.filter((role) => !compiled.roleNames.has(role)).map((role) => JSON.stringify(role)) ?? [];
  // A misspelled role would otherwise get the answer for a user without the role.
  if (unknown.length > 0)
    throw new CommandError(
      `--as must be roles that a rule or the hierarchy names (${[...compiled.roleNames].join(', ')}), got ${unknown.join(', ')}.`,
    );
  const explanation = explain(compiled, { method, path, roles });
  const note = explanation.route || loaded.configure ? '' : `${UNKNOWN_ROUTES}\n`;
  return { stdout: `${describeExplanation(explanation)}\n${note}`, code: 0 };
}

async function runSchema({ module, platform }: CommandOf<'schema'>): Promise<Outcome> {
  const statements = await inApplication(await loadModule(module), platform, schemaStatements);
  return { stdout: statements.map((statement) => `${statement};\n`).join(''), code: 0 };
}

async function runDocument({ module, platform, out }: CommandOf<'openapi'>): Promise<Outcome> {
  const document = await inApplication(await loadModule(module), platform, compileDocument);
  const text = `${JSON.stringify(document, undefined, 2)}\n`;
  if (out === undefined) return { stdout: text, code: 0 };
  writeFile(out, text);
  return { stdout: `Wrote ${Object.keys(document.paths).length} paths to ${out}.\n`, code: 0 };
}

function writeFile(name: string, text: string): void {
  try {
    writeFileSync(name, text);
  } catch (cause) {
    throw new CommandError(`${JSON.stringify(name)} cannot be written: ${reasonOf(cause)}.`, { cause });
  }
}
