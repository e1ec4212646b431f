/** `declarest explain`: explains why a request has access or not. */
import { describeExplanation, explain } from '../access/explain.js';
import type { Outcome } from './access-command.js';
import type { ExplainCommand } from './arguments.js';
import { CommandError } from './command-error.js';
import { compileApplication } from './compile-application.js';
import { loadModule } from './load-module.js';

const UNKNOWN_ROUTES =
  'Note: routes that main.ts adds, such as Swagger or static files, are unknown, because the module file exports no function configure(app).';

/** @throws CommandError */
export async function runExplain({ module, platform, method, path, roles }: ExplainCommand): Promise<Outcome> {
  const loaded = await loadModule(module);
  const compiled = await compileApplication(loaded, platform);
  expectKnownRoles(roles ?? [], compiled.roleNames);
  const explanation = explain(compiled, { method, path, roles });
  const lines = [describeExplanation(explanation)];
  if (!explanation.route && !loaded.configure) lines.push(UNKNOWN_ROUTES);
  return { stdout: `${lines.join('\n')}\n`, code: 0 };
}

/** A misspelled role would otherwise get the answer for a user without the role. */
function expectKnownRoles(roles: readonly string[], known: ReadonlySet<string>): void {
  const unknown = roles.filter((role) => !known.has(role));
  if (unknown.length > 0)
    throw new CommandError(
      `--as must be roles that a rule or the hierarchy names (${[...known].join(', ')}), got ${unknown.map((role) => JSON.stringify(role)).join(', ')}.`,
    );
}
