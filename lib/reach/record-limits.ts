/** Which operations a caller may use on some of the visible records only. */
import type { OperationDeclaration } from '../crud/declare/operations.js';
import type { Plan } from '../crud/plan/plan.js';
import { isOwn } from '../crud/rows/owner.js';
import type { Call } from '../crud/store/call.js';
import { effectOf } from './reach.js';
import { rowsOfAddition, type Effect } from './record-rows.js';
import { allOf, anyOf, isWithin, rowsMeeting, type Rows } from './rows.js';

export interface RecordLimits {
  /** Operations for records only that hold the id of the caller in the field of the owner. */
  readonly own: readonly string[];
  /** Operations for records only that meet a condition. */
  readonly some: readonly string[];
}

/** The values of the caller are known: none stands for that of any user. */
const KNOWN = { nameOf: () => undefined };

/** @param operations that the access rules allow */
export async function recordLimits(
  plan: Plan,
  call: Call,
  operations: readonly OperationDeclaration[],
): Promise<RecordLimits> {
  const changes = operations.filter((each) => each.route.takes.includes('id') && effectOf(each) === 'change');
  const isLimited = plan.rowRules.some(({ kind }) => kind === 'scope' || kind === 'owner');
  if (!isLimited || changes.length === 0) return { own: [], some: [] };
  const reads = [await rowsOf(plan, call, 'findAll'), await rowsOf(plan, call, 'findById')];
  const visible = anyOf(...reads.map((each) => each?.visible ?? 'all'));
  const owned = plan.owner?.claim === 'id' ? rowsMeeting(isOwn(plan.owner, call.request), KNOWN.nameOf) : 'all';
  const own: string[] = [];
  const some: string[] = [];
  for (const { name } of changes) {
    const rows = await rowsOf(plan, call, name);
    if (rows && isWithin(visible, rows.changed)) continue;
    const isOwners = rows && owned !== 'all' && isWithin(allOf(visible, owned), rows.changed);
    (isOwners ? own : some).push(name);
  }
  return { own, some };
}

/** `undefined` where the scope throws: it then decides when the operation is called. */
async function rowsOf(
  plan: Plan,
  call: Call,
  operation: string,
): Promise<Record<'visible' | 'changed', Rows> | undefined> {
  const parts = plan.rowRules.filter(({ kind }) => kind === 'scope' || kind === 'owner');
  const task = { plan, call, operation, view: plan.viewsFor(call.request).without };
  try {
    const additions = await Promise.all(parts.map((part) => part.add(task)));
    const rows = (effect: Effect): Rows => allOf(...additions.map((each) => rowsOfAddition(each, effect, KNOWN)));
    return { visible: rows('read'), changed: rows('change') };
  } catch {
    return undefined;
  }
}
