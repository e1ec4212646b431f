/** `declarest explain`: tells why a request gets in or not. */
import { HttpAdapterHost } from '@nestjs/core';
import { RouteTable } from '../routes/route-table.js';
import { describeExplanation, explain } from '../access/explain.js';
import { SecurityRules } from '../access/security-rules.js';
import type { Outcome } from './access-command.js';
import type { ExplainCommand } from './arguments.js';
import { bootWithoutEffects } from './boot-without-effects.js';
import { CommandError } from './command-error.js';
import { loadModule } from './load-module.js';

/** @throws CommandError */
export async function runExplain({ module, platform, method, path, roles }: ExplainCommand): Promise<Outcome> {
  const app = await bootWithoutEffects(() => loadModule(module), platform);
  const rules = app.get(SecurityRules, { strict: false });
  expectKnownRoles(roles ?? [], rules.roleNames);
  const table = RouteTable.of(app.get(HttpAdapterHost).httpAdapter);
  return { stdout: `${describeExplanation(explain(rules, table, { method, path, roles }))}\n`, code: 0 };
}

/** A role that is written wrongly would be answered as truly as any other. */
function expectKnownRoles(roles: readonly string[], known: ReadonlySet<string>): void {
  const unknown = roles.filter((role) => !known.has(role));
  if (unknown.length > 0)
    throw new CommandError(
      `--as: no rule and no hierarchy names ${unknown.map((role) => JSON.stringify(role)).join(' or ')}; known are ${[...known].join(', ')}.`,
    );
}
