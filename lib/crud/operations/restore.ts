import { AccessRefused } from '../../http/refusal.js';
import type { Envelope } from '../declare/envelope.js';
import type { Plan } from '../plan/plan.js';
import { everything } from '../query/record-request.js';
import { assertChangeable, changeable, exists, findExisting, targetOf, withId } from '../read/records.js';
import { evaluateScopes } from '../write/references.js';
import { run, transacted } from '../read/statements.js';
import { and, compare } from '../sql/condition.js';
import type { Call } from '../store/call.js';
import { answerRecord } from './answer.js';

/** Changes nothing where the record is not marked as deleted. @throws 400 for a malformed id, 403, 404, 409 */
export async function restore<T extends object>(plan: Plan<T>, call: Call, id: string): Promise<Envelope<unknown>> {
  const { deletion, store } = plan;
  const target = await targetOf(plan, call, id, 'restore', 'with');
  const { key, view } = target;
  await evaluateScopes(plan, call, [], { operation: 'update', view });
  const apply = async (within: Call): Promise<boolean> => {
    if (!deletion) return false;
    const hidden = and(changeable(plan, target), compare(deletion, 'isNotNull'));
    const write = { operation: 'update' } as const;
    const isRestored = await run(plan, within, () => store.writers.restore.restore(within, key, hidden), write);
    const isVisible = !isRestored || !view.isScoped || (await exists(plan, within, withId(plan, view, key)));
    if (!isVisible) throw new AccessRefused();
    return isRestored;
  };
  const isSingleStatement = !view.isScoped && !store.listened.has('restore');
  const isRestored = await (isSingleStatement ? apply(call) : transacted(plan, call, apply));
  if (!isRestored) await assertChangeable(plan, call, target);
  const all = everything(view.list);
  const request = { ...all, fields: all.fields.filter((field) => field !== deletion) };
  const record = await findExisting(plan, call, view, target, { request });
  return answerRecord(call, view, `${plan.schema.name} restored`, record);
}
