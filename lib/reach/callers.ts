/** The callers of the access table, and what each of them has. */
import { decide } from '../access/decide.js';
import type { CompiledAccess } from '../access/compiled-access.js';
import type { GeneratedRoute } from './generated-routes.js';
import type { Rows } from './rows.js';
import type { MakeCall } from './symbolic-caller.js';

/** A caller without a token, or one whose token has this role only, or these: `EDITOR and KEY`. `USER` is any user. */
export type CallerName = string;
export const NOBODY: CallerName = 'nobody';
export const AND = ' and ';

/** The callers that may, in the order of the table. */
export type Callers = 'all' | 'none' | readonly CallerName[];

export const isAmong = (callers: Callers, caller: CallerName): boolean =>
  callers !== 'none' && (callers === 'all' || callers.includes(caller));

export type RowsByCaller = Readonly<Record<CallerName, Rows>>;

export interface Caller {
  readonly name: CallerName;
  /** With the roles that they include; `undefined` for a caller without a token. */
  readonly granted: readonly string[] | undefined;
  readonly makeCall: MakeCall;
}

export async function byCaller(
  callers: readonly Caller[],
  rowsFor: (caller: Caller) => Rows | Promise<Rows>,
): Promise<RowsByCaller> {
  const entries = callers.map(async (caller) => [caller.name, await rowsFor(caller)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

export function callersThat(callers: readonly Caller[], check: (caller: Caller) => boolean): Callers {
  const found = callers.filter(check).map(({ name }) => name);
  return found.length === 0 ? 'none' : found.length === callers.length ? 'all' : found;
}

/** Roles that a route requires together. One that the others make needless is left out. */
export function rolesRequired(routes: readonly GeneratedRoute[], { roles }: CompiledAccess): string[][] {
  const entries = routes.flatMap((each) => each.entries);
  return entries.flatMap(({ access }) => {
    const choices = access.requirements.flatMap((each) => ('anyOf' in each ? [each.anyOf] : []));
    const combined = choices.reduce<string[][]>(
      (all, names) => all.flatMap((some) => including(names, roles).map((role) => [...some, role])),
      [[]],
    );
    const isEnough = (names: readonly string[]): boolean => !decide(access, roles.expand(names));
    const without = (names: string[], role: string): string[] => names.filter((each) => each !== role);
    return combined
      .map((names) => names.reduce((kept, each) => (isEnough(without(kept, each)) ? without(kept, each) : kept), names))
      .map((names) => [...new Set(names)].toSorted())
      .filter((names) => names.length > 1 && isEnough(names));
  });
}

const including = (names: readonly string[], { includersOf }: CompiledAccess['roles']): string[] => [
  ...new Set([...names, ...names.flatMap(includersOf)]),
];
