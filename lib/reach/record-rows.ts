/** Which rows of a resource an operation gives to a caller whose values are not known. */
import { createHash } from 'node:crypto';
import { ScopeReference } from '../crud/declare/scope.js';
import type { Addition, Part, Plan } from '../crud/plan/plan.js';
import { isClaim, type SymbolicCall } from './symbolic-caller.js';
import { allOf, anyOf, condition, rowsMeeting, type Rows } from './rows.js';

/** What an operation does with records: the owner may let others read what they cannot change. */
export type Effect = 'read' | 'create' | 'change';

/** Makes a call with one of two sets of values, of a user who has every claim that is asked for, or none. */
export type MakeCall = (probe: 0 | 1, hasClaims: boolean) => SymbolicCall;

/** The conditions of the path are left out: the path of the operation says them. */
export const recordRows = (plan: Plan, operation: string, effect: Effect, makeCall: MakeCall): Promise<Rows> =>
  rowsOfParts(plan, ['scope', 'owner', 'standing', 'parents'], operation, effect, makeCall);

/** The rows that requests of another resource reach in a relation. */
export const relatedRows = (plan: Plan, makeCall: MakeCall): Promise<Rows> =>
  rowsOfParts(plan, ['scope', 'owner'], 'findAll', 'read', makeCall);

async function rowsOfParts(
  plan: Plan,
  kinds: readonly Part['kind'][],
  operation: string,
  effect: Effect,
  makeCall: MakeCall,
): Promise<Rows> {
  const parts = plan.parts.filter(({ kind }) => kinds.includes(kind));
  return allOf(...(await Promise.all(parts.map((part) => rowsOfPart(plan, part, operation, effect, makeCall)))));
}

async function rowsOfPart(
  plan: Plan,
  part: Part,
  operation: string,
  effect: Effect,
  makeCall: MakeCall,
): Promise<Rows> {
  const evaluate = async (probe: 0 | 1, hasClaims: boolean) => {
    const symbolic = makeCall(probe, hasClaims);
    const { call } = symbolic;
    const task = { plan, call, hooks: {}, operation, view: plan.viewsFor(call.request).without };
    try {
      return { rows: rowsOfAddition(await part.add(task), effect, symbolic), read: symbolic.read };
    } catch {
      return { rows: undefined, read: symbolic.read };
    }
  };
  const [first, second] = [await evaluate(0, true), await evaluate(1, true)];
  const text = JSON.stringify(first.rows ?? 'none');
  // What is read and not compared decides in a way that no condition says.
  const named = new Set(text.match(/:[\w$]+/g));
  const isCompared = (name: string): boolean => named.has(`:${name}`) || (name === 'id' && text.includes('own ('));
  const mayHide = part.kind === 'scope' || first.rows === 'none';
  const isSaid = text === JSON.stringify(second.rows) && (!mayHide || [...first.read].every(isCompared));
  if (!first.rows || !isSaid) return condition(codeOfPart(plan, part));
  const claims = [...first.read].filter(isClaim);
  if (claims.length === 0) return first.rows;
  const without = (await evaluate(0, false)).rows ?? 'none';
  if (without === 'none' || JSON.stringify(without) === text) return first.rows;
  const names = claims.toSorted().join(', ');
  return anyOf(allOf(first.rows, condition(`user with ${names}`)), allOf(without, condition(`user without ${names}`)));
}

export function rowsOfAddition(
  { conditions = [], preconditions = [] }: Addition,
  effect: Effect,
  { nameOf }: Pick<SymbolicCall, 'nameOf'>,
): Rows {
  const applied = [...conditions, ...(effect === 'read' ? [] : preconditions.map((each) => each.condition))];
  return allOf(...applied.map((each) => rowsMeeting(each, nameOf)));
}

/** What code decides that cannot be said as a condition. */
function codeOfPart({ options, schema }: Plan, { kind }: Part): string {
  const { scope } = options;
  if (kind !== 'scope' || scope === undefined) return `code: ${kind} of ${schema.name}`;
  return scope instanceof ScopeReference
    ? codeOf(scope.provider.name, scope.provider)
    : codeOf(`scope of ${schema.name}`, scope);
}

/** `code: ArticleScope#3f9a1c02`: the hash changes with the source, and not with the layout that a compiler gives it. */
export function codeOf(name: string, code: object): string {
  const source = String(code).replace(/\s+/g, '').replace(/["'`]/g, "'");
  return `code: ${name}#${createHash('sha256').update(source).digest('hex').slice(0, 8)}`;
}
