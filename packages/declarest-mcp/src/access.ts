/** Which operations a caller may use, as the access table of the application says. */
import type { AccessRow, Principal } from 'declarest';
import type { Described } from './document.js';

/** `/products/:id` and `/products/{id}` are one path. */
const templateOf = (path: string): string => path.replaceAll(/[:*](\w+)/g, '{$1}').replace(/(.)\/$/, '$1');

export const keyOf = (method: string, path: string): string => `${method} ${templateOf(path)}`;

/** The rows of the operations of a document, also those of parts of their paths that rules tell apart. */
export function rowsByOperation(rows: readonly AccessRow[]): (described: Described) => readonly AccessRow[] {
  const byRoute = new Map<string, AccessRow[]>();
  for (const row of rows) {
    const key = keyOf(row.method, row.template);
    byRoute.set(key, [...(byRoute.get(key) ?? []), row]);
  }
  return ({ method, path }) => byRoute.get(keyOf(method, path)) ?? byRoute.get(keyOf('any other method', path)) ?? [];
}

/** The application decides on each call. This decides what is listed: policies, and routes without a row, are not known. */
export const mayUse = (rows: readonly AccessRow[], caller: Principal | undefined): boolean =>
  rows.length === 0 || rows.some((row) => isOpenTo(row, caller));

function isOpenTo({ access, requirements }: AccessRow, caller: Principal | undefined): boolean {
  if (access === 'public' || access === 'nobody' || !caller) return access === 'public';
  return requirements.every((anyOf) =>
    anyOf.some((name) => name.startsWith('policy ') || hasRole(caller, unquoted(name))),
  );
}

/** With the plugin `apiKeys()`, requests without the role `KEY` have `LOGIN`. */
const hasRole = ({ roles }: Principal, name: string): boolean =>
  roles.includes(name) || (name === 'LOGIN' && !roles.includes('KEY'));

/** A name that is no plain word is quoted. */
const unquoted = (name: string): string => (name.startsWith('"') ? (JSON.parse(name) as string) : name);
