/** The callers of the access table, and what each of them has. */
import { decide } from '../access/decide.js';
import type { CompiledAccess } from '../access/compiled-access.js';
import type { CallerViews } from '../crud/plan/caller-views.js';
import type { Plan } from '../crud/plan/plan.js';
import type { GeneratedRoute } from './generated-routes.js';
import type { MakeCall } from './record-rows.js';
import type { Rows } from './rows.js';

/** A caller without a token, or one whose token has this role only, or these: `EDITOR and KEY`. `USER` is any user. */
export type CallerName = string;
export const NOBODY: CallerName = 'nobody';
export const AND = ' and ';

/** The callers that may, in the order of the table. */
export type Callers = 'all' | 'none' | readonly CallerName[];

export const isAmong = (callers: Callers, caller: CallerName): boolean =>
  callers !== 'none' && (callers === 'all' || callers.includes(caller));

export type RowsByCaller = Readonly<Record<CallerName, Rows>>;

export interface Context {
  readonly compiled: CompiledAccess;
  readonly plans: readonly Plan[];
  readonly callers: readonly CallerName[];
  /** `undefined` for a caller without a token. */
  rolesOf(caller: CallerName): readonly string[] | undefined;
  makeCall(caller: CallerName): MakeCall;
}

/** Those of any caller with the role: permissions do not depend on other values. */
export const viewsOf = (plan: Plan, caller: CallerName, context: Context): CallerViews =>
  plan.viewsFor(context.makeCall(caller)(0, true).call.request);

export async function byCaller(
  { callers }: Context,
  rowsFor: (caller: CallerName) => Rows | Promise<Rows>,
): Promise<RowsByCaller> {
  const entries = callers.map(async (caller) => [caller, await rowsFor(caller)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

export function callersThat({ callers }: Context, check: (caller: CallerName) => boolean): Callers {
  const found = callers.filter(check);
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
