/** Which rows of a resource an operation gives to a caller: of unknown values, by symbols, or of a request. */
import { setTimeout } from 'node:timers/promises';
import type { OperationDeclaration } from '../crud/declare/operations.js';
import { ScopeReference } from '../crud/declare/scope.js';
import type { Addition, Plan, RowRule } from '../crud/plan/plan.js';
import { isOwn } from '../crud/rows/owner.js';
import type { Call } from '../crud/store/call.js';
import { hashOf } from './code-hash.js';
import { compileTimeNames, timeOf, type Evaluation } from './present-time.js';
import { isClaim, type SymbolicCall } from './symbolic-caller.js';
import { allOf, anyOf, condition, isWithin, rowsMeeting, type Rows } from './rows.js';

/** What an operation does with records: the owner may let others read what they cannot change. */
export type Effect = 'read' | 'create' | 'change';

const CREATIONS: readonly string[] = ['create', 'createMany'];

export const effectOf = ({ name, route }: OperationDeclaration): Effect =>
  route.verb === 'GET' ? 'read' : CREATIONS.includes(name) ? 'create' : 'change';

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
  kinds: readonly RowRule['kind'][],
  operation: string,
  effect: Effect,
  makeCall: MakeCall,
): Promise<Rows> {
  const parts = plan.rowRules.filter(({ kind }) => kinds.includes(kind));
  return allOf(...(await Promise.all(parts.map((part) => rowsOfPart(plan, part, operation, effect, makeCall)))));
}

/** Calls what decides on rows, so that the call notices the roles that it asks for. */
export async function askForRoles(plan: Plan, operation: string, makeCall: MakeCall): Promise<void> {
  for (const hasClaims of [true, false])
    for (const part of plan.rowRules) await evaluate(plan, part, operation, makeCall(0, hasClaims));
}

interface Evaluated extends Evaluation {
  readonly addition: Addition | undefined;
  readonly symbolic: SymbolicCall;
}

/** @returns `undefined` where the code of the application fails */
async function evaluate(
  plan: Plan,
  part: RowRule,
  operation: string,
  { call }: Pick<SymbolicCall, 'call'>,
): Promise<Addition | undefined> {
  try {
    return await part.add({ plan, call, operation, view: plan.viewsFor(call.request).without });
  } catch {
    return undefined;
  }
}

async function rowsOfPart(
  plan: Plan,
  part: RowRule,
  operation: string,
  effect: Effect,
  makeCall: MakeCall,
): Promise<Rows> {
  const evaluateAs = async (...probe: Parameters<MakeCall>): Promise<Evaluated> => {
    const symbolic = makeCall(...probe);
    const from = Date.now();
    const addition = await evaluate(plan, part, operation, symbolic);
    const values: unknown[] = [];
    const nameOf = (value: unknown): undefined => void (symbolic.nameOf(value) ?? values.push(value));
    if (addition) rowsOfAddition(addition, effect, { nameOf });
    return { addition, symbolic, from, to: Date.now(), values };
  };
  const first = await evaluateAs(0, true);
  // The clock must move between the evaluations.
  const hasTimes = first.values.some((value) => timeOf(value) !== undefined);
  if (hasTimes) while (Date.now() - first.to < 2) await setTimeout(2);
  const second = await evaluateAs(1, true);
  const namesIn = compileTimeNames(first, second, String(codeOfPart(plan, part)));
  const compared = new Set<string>();
  const rowsIn = ({ addition, symbolic, ...times }: Evaluated): Rows | undefined => {
    const nameOf = (value: unknown): string | undefined => {
      const name = symbolic.nameOf(value);
      if (name !== undefined) compared.add(name);
      return name ?? namesIn(times)(value);
    };
    return addition && rowsOfAddition(addition, effect, { nameOf });
  };
  const rows = rowsIn(first);
  const text = JSON.stringify(rows ?? 'none');
  // What is read and not compared decides in a way that no condition says.
  const isCompared = (name: string): boolean => compared.has(`:${name}`);
  const mayHide = part.kind === 'scope' || rows === 'none';
  const isSaid = text === JSON.stringify(rowsIn(second)) && (!mayHide || [...first.symbolic.read].every(isCompared));
  if (!rows || !isSaid) return condition(nameOfPart(plan, part));
  const claims = [...first.symbolic.read].filter(isClaim);
  if (claims.length === 0) return rows;
  const without = rowsIn(await evaluateAs(0, false)) ?? 'none';
  if (without === 'none' || JSON.stringify(without) === text) return rows;
  const names = claims.toSorted().join(', ');
  return anyOf(allOf(rows, condition(`user with ${names}`)), allOf(without, condition(`user without ${names}`)));
}

export function rowsOfAddition(
  { conditions = [], preconditions = [] }: Addition,
  effect: Effect,
  { nameOf }: Pick<SymbolicCall, 'nameOf'>,
): Rows {
  const applied = [...conditions, ...(effect === 'read' ? [] : preconditions.map((each) => each.condition))];
  return allOf(...applied.map((each) => rowsMeeting(each, nameOf)));
}

/** What decides that cannot be said as a condition: `code: ArticleScope#3f9a1c02`, with a hash of its source. */
function nameOfPart(plan: Plan, part: RowRule): string {
  const { scope } = plan.options;
  const code = codeOfPart(plan, part);
  if (code === undefined) return `code: ${part.kind} of ${plan.schema.name}`;
  return `code: ${scope instanceof ScopeReference ? scope.provider.name : `scope of ${plan.schema.name}`}#${hashOf(code)}`;
}

function codeOfPart({ options: { scope } }: Plan, { kind }: RowRule): object | undefined {
  if (kind !== 'scope') return undefined;
  return scope instanceof ScopeReference ? scope.provider : scope;
}

export interface RecordLimits {
  /** Operations for records only that hold the id of the caller in the field of the owner. */
  readonly own: readonly string[];
  /** Operations for records only that meet a condition. */
  readonly some: readonly string[];
}

/** The values of the caller are known: none stands for that of any user. */
const KNOWN = { nameOf: () => undefined };

/** Which operations a caller may use on some of the visible records only. @param operations that the access rules allow */
export async function recordLimits(
  plan: Plan,
  call: Call,
  operations: readonly OperationDeclaration[],
): Promise<RecordLimits> {
  const changes = operations.filter((each) => each.route.takes.includes('id') && effectOf(each) === 'change');
  const isLimited = plan.rowRules.some(({ kind }) => kind === 'scope' || kind === 'owner');
  if (!isLimited || changes.length === 0) return { own: [], some: [] };
  const reads = [await rowsFor(plan, call, 'findAll'), await rowsFor(plan, call, 'findById')];
  const visible = anyOf(...reads.map((each) => each?.visible ?? 'all'));
  const owned = plan.owner?.claim === 'id' ? rowsMeeting(isOwn(plan.owner, call.request), KNOWN.nameOf) : 'all';
  const own: string[] = [];
  const some: string[] = [];
  for (const { name } of changes) {
    const rows = await rowsFor(plan, call, name);
    if (rows && isWithin(visible, rows.changed)) continue;
    const isOwners = rows && owned !== 'all' && isWithin(allOf(visible, owned), rows.changed);
    (isOwners ? own : some).push(name);
  }
  return { own, some };
}

/** `undefined` where the scope throws: it then decides when the operation is called. */
async function rowsFor(
  plan: Plan,
  call: Call,
  operation: string,
): Promise<Record<'visible' | 'changed', Rows> | undefined> {
  const parts = plan.rowRules.filter(({ kind }) => kind === 'scope' || kind === 'owner');
  const additions = await Promise.all(parts.map((each) => evaluate(plan, each, operation, { call })));
  const known = additions.filter((each) => each !== undefined);
  const rows = (effect: Effect): Rows => allOf(...known.map((each) => rowsOfAddition(each, effect, KNOWN)));
  return known.length < parts.length ? undefined : { visible: rows('read'), changed: rows('change') };
}
