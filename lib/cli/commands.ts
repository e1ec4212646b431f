/** What each command of the command line does. */
import { writeFileSync } from 'node:fs';
import { describeAccess } from '../access/decide.js';
import { describeExplanation, explain } from '../reach/explain.js';
import { schemaStatements } from '../crud/inspect.js';
import { describeMissingIndexes } from '../indexes/missing-indexes.js';
import { explainReach, explainRecord } from '../reach/explain-reach.js';
import { generatedRoutes } from '../reach/generated-routes.js';
import { namedRoles } from '../reach/reach.js';
import { formatChanges, formatTable, tableChanges, type TableChange } from './access-output.js';
import { accessPage } from './access-page.js';
import { readSnapshot, writeSnapshot } from './access-snapshot.js';
import type { ApplicationCommand, CommandOf, Outcome } from './arguments.js';
import { CommandError, reasonOf } from './command-error.js';
import { compileAccess, compileApplication, compileDocument, inApplication } from './compile-application.js';
import { loadModule } from './load-module.js';
import { inStartedApplication } from './started-application.js';
import { runUser } from './user-command.js';

export function runCommand(command: ApplicationCommand): Promise<Outcome> {
  if (command.name === 'schema') return runSchema(command);
  if (command.name === 'indexes') return runIndexes(command);
  if (command.name === 'openapi') return runDocument(command);
  if (command.name === 'user') return runUser(command);
  return command.name === 'access' ? runAccess(command) : runExplain(command);
}

export async function runAccess(command: CommandOf<'access'>): Promise<Outcome> {
  const { module, platform, format, check, update, html } = command;
  // Read before the application is created, which takes longer.
  const before = check === undefined ? undefined : readSnapshot(check);
  if (check !== undefined && !before && !update)
    throw new CommandError(`There is no snapshot ${JSON.stringify(check)}. Write it with --update.`);
  const { compiled, reach } = await compileApplication(await loadModule(module), platform);
  const { rows: routes, policy } = compiled;
  const table = { ...reach, routes };
  if (html !== undefined) return writeFile(html, accessPage(table), `Wrote ${html}.\n`);
  if (check === undefined) return { stdout: formatTable(table, format), code: 0 };
  const defaultAccess = { access: describeAccess(policy.fallback, () => []), requirements: [] };
  const changes = before ? tableChanges(before, table, defaultAccess) : [];
  const stdout = formatChanges(changes, format === 'github' ? 'github' : 'text');
  if (!update) return checkSnapshot(check, changes, stdout);
  const written = `Wrote ${routes.length} routes and ${reach.resources.length} resources to ${check}.\n`;
  return writeFile(check, writeSnapshot(table), stdout + written);
}

function checkSnapshot(file: string, changes: readonly TableChange[], described: string): Outcome {
  const [wider, unclear] = ['wider', 'look'].map((kind) => {
    const { length } = changes.filter((each) => each.kind === kind);
    return length > 0 ? `${length} ${length === 1 ? 'place' : 'places'}` : undefined;
  });
  const verdict =
    wider !== undefined
      ? `Access became wider than in ${file} in ${wider}${unclear === undefined ? '' : `, and code changed in ${unclear}`}. Accept it with --update.`
      : unclear !== undefined
        ? `Code or options that decide on access changed since ${file} in ${unclear}. Look at them, and accept them with --update.`
        : changes.length > 0
          ? `Access did not become wider than in ${file}. Record the changes with --update.`
          : `Access is the same as in ${file}.`;
  return { stdout: `${described}${verdict}\n`, code: (wider ?? unclear) === undefined ? 0 : 1 };
}

const UNKNOWN_ROUTES =
  'Note: routes that main.ts adds, such as Swagger or static files, are unknown, because the module file exports no function configure(app).';

export async function runExplain(command: CommandOf<'explain'>): Promise<Outcome> {
  const { module, platform, method, path, roles: named, claims, record } = command;
  const request = { method, path };
  const loaded = await loadModule(module);
  return inApplication(loaded, platform, async (app) => {
    const compiled = await compileAccess(app);
    const [roles, id] = userOf(named, await namedRoles(generatedRoutes(app, compiled).plans, compiled));
    const asker = { roles, id, claims };
    const explanation = explain(compiled, { ...request, roles });
    const note = explanation.route || loaded.configure ? [] : [UNKNOWN_ROUTES];
    const isAllowed = explanation.verdict === 'allowed' || explanation.verdict === 'left to policies';
    const reached = isAllowed ? await explainReach(app, compiled, request, asker) : [];
    const lines = [describeExplanation(explanation), ...reached, ...note];
    if (record && isAllowed)
      lines.push(await inStartedApplication(module, (started) => explainRecord(started, compiled, request, asker)));
    return { stdout: `${lines.join('\n')}\n`, code: 0 };
  });
}

/** The roles, and the id behind the last one. A name with a colon may be a role too. @throws CommandError */
function userOf(
  named: readonly string[] | undefined,
  known: ReadonlySet<string>,
): readonly [roles: readonly string[] | undefined, id: string | undefined] {
  const last = named?.at(-1) ?? '';
  const colon = known.has(last) ? -1 : last.lastIndexOf(':');
  const roles = colon < 0 ? named : [...(named ?? []).slice(0, -1), last.slice(0, colon)];
  const unknown = roles?.filter((role) => !known.has(role)).map((role) => JSON.stringify(role)) ?? [];
  // A misspelled role would otherwise get the answer for a user without the role.
  if (unknown.length > 0)
    throw new CommandError(
      `--as must be roles that a rule, the hierarchy, an option or a scope names (${[...known].join(', ')}), got ${unknown.join(', ')}.`,
    );
  return [roles, colon < 0 ? undefined : last.slice(colon + 1)];
}

async function runSchema({ module, platform }: CommandOf<'schema'>): Promise<Outcome> {
  const statements = await inApplication(await loadModule(module), platform, schemaStatements);
  return { stdout: statements.map((statement) => `${statement};\n`).join(''), code: 0 };
}

async function runIndexes({ module, platform, database }: CommandOf<'indexes'>): Promise<Outcome> {
  const stdout = database
    ? await inStartedApplication(module, describeMissingIndexes)
    : await inApplication(await loadModule(module), platform, describeMissingIndexes);
  return { stdout, code: 0 };
}

async function runDocument({ module, platform, out }: CommandOf<'openapi'>): Promise<Outcome> {
  const document = await inApplication(await loadModule(module), platform, compileDocument);
  const text = `${JSON.stringify(document, undefined, 2)}\n`;
  if (out === undefined) return { stdout: text, code: 0 };
  return writeFile(out, text, `Wrote ${Object.keys(document.paths).length} paths to ${out}.\n`);
}

function writeFile(name: string, text: string, stdout: string): Outcome {
  try {
    writeFileSync(name, text);
    return { stdout, code: 0 };
  } catch (cause) {
    throw new CommandError(`${JSON.stringify(name)} cannot be written: ${reasonOf(cause)}.`, { cause });
  }
}
