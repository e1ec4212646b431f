/** Which rows of a resource an operation gives to a caller: of unknown values, by symbols, or of a request. */
import { setTimeout } from 'node:timers/promises';
import { evaluateRule, ownedBy, scopeCodeOf } from '../crud/inspect.js';
import type { Call, Effect, InspectedOperation, Plan, RowRule, RuleConditions } from '../crud/inspect.js';
import { hashOf } from './code-hash.js';
import { compileTimeNames, timeOf, type Evaluation } from './present-time.js';
import { isClaim, type MakeCall, type SymbolicCall } from './symbolic-caller.js';
import { allOf, anyOf, condition, isWithin, rowsMeeting, type Rows } from './rows.js';

type Operation = Pick<InspectedOperation, 'plan' | 'name' | 'effect'>;

/** The conditions of the path are left out: the path of the operation says them. */
export const recordRows = (operation: Operation, makeCall: MakeCall): Promise<Rows> =>
  rowsOfParts(operation, ['scope', 'owner', 'standing', 'parents'], makeCall);

/** The rows that requests of another resource reach in a relation. */
export const relatedRows = (plan: Plan, makeCall: MakeCall): Promise<Rows> =>
  rowsOfParts({ plan, name: 'findAll', effect: 'read' }, LIMITS, makeCall);

const LIMITS: readonly RowRule['kind'][] = ['scope', 'owner'];

async function rowsOfParts(operation: Operation, kinds: typeof LIMITS, makeCall: MakeCall): Promise<Rows> {
  const parts = operation.plan.rowRules.filter(({ kind }) => kinds.includes(kind));
  return allOf(...(await Promise.all(parts.map((part) => rowsOfPart(operation, part, makeCall)))));
}

/** Calls what decides on rows, so that the call notices the roles that it asks for. */
export async function askForRoles(operation: Pick<Operation, 'plan' | 'name'>, makeCall: MakeCall): Promise<void> {
  for (const hasClaims of [true, false])
    for (const part of operation.plan.rowRules) await evaluate(part, operation, makeCall(0, hasClaims).call);
}

interface Evaluated extends Evaluation {
  readonly conditions: RuleConditions | undefined;
  readonly symbolic: SymbolicCall;
}

/** @returns `undefined` where the code of the application fails */
const evaluate = (...args: Parameters<typeof evaluateRule>): Promise<RuleConditions | undefined> =>
  evaluateRule(...args).catch(() => undefined);

async function rowsOfPart(operation: Operation, part: RowRule, makeCall: MakeCall): Promise<Rows> {
  const { plan, effect } = operation;
  const evaluateAs = async (...probe: Parameters<MakeCall>): Promise<Evaluated> => {
    const symbolic = makeCall(...probe);
    const from = Date.now();
    const conditions = await evaluate(part, operation, symbolic.call);
    const values: unknown[] = [];
    const nameOf = (value: unknown): undefined => void (symbolic.nameOf(value) ?? values.push(value));
    if (conditions) rowsIn(conditions, effect, nameOf);
    return { conditions, symbolic, from, to: Date.now(), values };
  };
  const first = await evaluateAs(0, true);
  // The clock must move between the evaluations.
  const hasTimes = first.values.some((value) => timeOf(value) !== undefined);
  if (hasTimes) while (Date.now() - first.to < 2) await setTimeout(2);
  const second = await evaluateAs(1, true);
  const namesIn = compileTimeNames(first, second, part.kind === 'scope' ? String(scopeCodeOf(plan)?.code) : '');
  const compared = new Set<string>();
  const rowsOf = ({ conditions, symbolic, ...times }: Evaluated): Rows | undefined => {
    const nameOf = (value: unknown): string | undefined => {
      const name = symbolic.nameOf(value);
      if (name !== undefined) compared.add(name);
      return name ?? namesIn(times)(value);
    };
    return conditions && rowsIn(conditions, effect, nameOf);
  };
  const rows = rowsOf(first);
  const text = JSON.stringify(rows ?? 'none');
  // What is read and not compared decides in a way that no condition says.
  const isCompared = (name: string): boolean => compared.has(`:${name}`);
  const mayHide = part.kind === 'scope' || rows === 'none';
  const isSaid = text === JSON.stringify(rowsOf(second)) && (!mayHide || [...first.symbolic.read].every(isCompared));
  if (!rows || !isSaid) return condition(nameOfPart(plan, part));
  const claims = [...first.symbolic.read].filter(isClaim);
  if (claims.length === 0) return rows;
  const without = rowsOf(await evaluateAs(0, false)) ?? 'none';
  if (without === 'none' || JSON.stringify(without) === text) return rows;
  const names = claims.toSorted().join(', ');
  return anyOf(allOf(rows, condition(`user with ${names}`)), allOf(without, condition(`user without ${names}`)));
}

const rowsIn = ({ reached, changed }: RuleConditions, effect: Effect, nameOf: SymbolicCall['nameOf']): Rows =>
  allOf(...[...reached, ...(effect === 'read' ? [] : changed)].map((each) => rowsMeeting(each, nameOf)));

/** What decides that cannot be said as a condition: `code: ArticleScope#3f9a1c02`, with a hash of its source. */
function nameOfPart(plan: Plan, { kind }: RowRule): string {
  const { name, code } = (kind === 'scope' && scopeCodeOf(plan)) || {};
  return `code: ${name ?? `${kind} of ${plan.schema.name}`}${code ? `#${hashOf(code)}` : ''}`;
}

export interface RecordLimits {
  /** Operations for records only that hold the id of the caller in the field of the owner. */
  readonly own: readonly string[];
  /** Operations for records only that meet a condition. */
  readonly some: readonly string[];
}

/** The values of the caller are known: none stands for that of any user. */
const unnamed = (): undefined => undefined;

/** Which operations a caller may use on some of the visible records only. @param operations that the access rules allow */
export async function recordLimits(
  plan: Plan,
  call: Call,
  operations: readonly InspectedOperation[],
): Promise<RecordLimits> {
  const changes = operations.filter(({ takesId, effect }) => takesId && effect === 'change');
  const isLimited = plan.rowRules.some(({ kind }) => LIMITS.includes(kind));
  if (!isLimited || changes.length === 0) return { own: [], some: [] };
  const reads = [await rowsFor({ plan, name: 'findAll' }, call), await rowsFor({ plan, name: 'findById' }, call)];
  const visible = anyOf(...reads.map((each) => each?.visible ?? 'all'));
  const owner = ownedBy(plan, call);
  const owned = owner ? rowsMeeting(owner, unnamed) : 'all';
  const own: string[] = [];
  const some: string[] = [];
  for (const each of changes) {
    const rows = await rowsFor(each, call);
    if (rows && isWithin(visible, rows.changed)) continue;
    const isOwners = rows && owned !== 'all' && isWithin(allOf(visible, owned), rows.changed);
    (isOwners ? own : some).push(each.name);
  }
  return { own, some };
}

/** `undefined` where the scope throws: it then decides when the operation is called. */
async function rowsFor(operation: Pick<Operation, 'plan' | 'name'>, call: Call) {
  const parts = operation.plan.rowRules.filter(({ kind }) => LIMITS.includes(kind));
  const evaluated = await Promise.all(parts.map((each) => evaluate(each, operation, call)));
  const known = evaluated.filter((each) => each !== undefined);
  const rows = (effect: Effect): Rows => allOf(...known.map((each) => rowsIn(each, effect, unnamed)));
  return known.length < parts.length ? undefined : { visible: rows('read'), changed: rows('change') };
}
