/** The access table: who has access to each method of each route, and by which rules. */
import { describeAccess, describeRequirements, describeRule } from './decide.js';
import type { RoleInclusion } from './role-hierarchy.js';
import type { RouteEntry } from './route-access.js';

export interface AccessRow {
  /** `GET` (which includes HEAD), …, or `any other method` of a route that serves all methods. */
  readonly method: string;
  /** The route's template, or the pattern that matches a part of the route's paths. */
  readonly path: string;
  /** The template of the route, also where `path` is a part of it. */
  readonly template: string;
  /** `public`, `any token`, `ADMIN or EDITOR`, `ADMIN, and policy owner`, `nobody`. */
  readonly access: string;
  /** What a token must have, one name of each list: `[['ADMIN', 'EDITOR'], ['policy owner']]`. */
  readonly requirements: readonly (readonly string[])[];
  /** Every rule that took part in the decision, from the broadest to the narrowest. Empty where the default decides. */
  readonly rules: readonly string[];
}

export function accessRows(entries: readonly RouteEntry[], includersOf: RoleInclusion['includersOf']): AccessRow[] {
  const rows = entries.map(({ method, path, template, access }): AccessRow => ({
    method,
    path,
    template,
    access: describeAccess(access, includersOf),
    requirements: describeRequirements(access, includersOf),
    rules: access.rules.map(describeRule),
  }));
  return [...new Map(rows.map((row) => [JSON.stringify(row), row])).values()];
}

export function formatAccessRows(rows: readonly AccessRow[]): string {
  const lines = rows.map(({ method, path, access, rules }) => [method, path, access, rules.join(', ') || 'default']);
  const widths = [0, 1, 2].map((column) => Math.max(0, ...lines.map((line) => line[column]?.length ?? 0)));
  const padded = lines.map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  // Several routes may have the same part.
  return [...new Set(padded)].join('\n');
}
