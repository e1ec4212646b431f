import { describeAccess } from './access.js';
import type { RouteEntry } from './route-access.js';
import { describeRule } from './rules.js';

/** Who reaches one method of one route. */
export interface AccessRow {
  /** `GET` (which includes HEAD), …, or `any other method` of a route that serves them all. */
  readonly method: string;
  /** As the router was given it, or the pattern that tells a part of a route apart. */
  readonly path: string;
  /** `public`, `any token`, `ADMIN or EDITOR`, `ADMIN, and policy owner`, `nobody`. */
  readonly access: string;
  /** What decided last, with the class that declared it; `default` where no rule speaks of it. */
  readonly rule: string;
}

/** @param includersOf the roles that include a role */
export function accessRows(
  entries: readonly RouteEntry[],
  includersOf: (role: string) => readonly string[],
): AccessRow[] {
  return entries.map(({ method, path, access }) => {
    const rule = access.by.at(-1);
    return { method, path, access: describeAccess(access, includersOf), rule: rule ? describeRule(rule) : 'default' };
  });
}

/** Columns under each other, one line a row. */
export function accessTable(rows: readonly AccessRow[]): string {
  const lines = rows.map(({ method, path, access, rule }) => [method, path, access, rule]);
  const widths = [0, 1, 2].map((column) => Math.max(0, ...lines.map((line) => line[column]?.length ?? 0)));
  return lines.map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')).join('\n');
}
