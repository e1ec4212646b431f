import { AccessRefused } from '../../http/refusal.js';
import type { Envelope } from '../declare/envelope.js';
import { beginTask, type Task } from '../plan/caller-view.js';
import type { Plan } from '../plan/plan.js';
import { everything } from '../query/record-request.js';
import { assertChangeable, changeable, exists, findExisting, readId, targetOf, withId } from '../read/records.js';
import { evaluateScopes } from '../write/references.js';
import { run, transacted, type Write } from '../read/statements.js';
import { and, compare } from '../sql/condition.js';
import type { Call } from '../store/call.js';
import { answerRecord } from './answer.js';

const RESTORE: Write = { operation: 'update' };

/** Changes nothing where the record is not marked as deleted. @throws 400 for a malformed id, 403, 404, 409 */
export async function restore<T extends object>(plan: Plan<T>, call: Call, id: string): Promise<Envelope<unknown>> {
  const { deletion, store } = plan;
  const key = readId(plan, id, 'restore');
  const task = await beginTask(plan, call, 'restore', 'with');
  const { view } = task;
  const target = targetOf(task, { key, id });
  await evaluateScopes(task, [], 'update');
  const apply = async (within: Task<T>): Promise<boolean> => {
    if (!deletion) return false;
    const hidden = and(changeable(within, target), compare(deletion, 'isNotNull'));
    const restored = (): Promise<boolean> => store.writers.restore.restore(within.call, key, hidden);
    const isRestored = await run(plan, restored, RESTORE);
    const isVisible = !isRestored || !view.isScoped || (await exists(within, withId(within, key)));
    if (!isVisible) throw new AccessRefused();
    return isRestored;
  };
  const isSingleStatement = !view.isScoped && !store.listened.has('restore');
  const isRestored = await (isSingleStatement ? apply(task) : transacted(task, RESTORE, apply));
  if (!isRestored) await assertChangeable(task, target);
  const all = everything(view.list);
  const request = { ...all, fields: all.fields.filter((field) => field !== deletion) };
  const record = await findExisting(task, target, { request });
  return answerRecord(task, `${plan.schema.name} restored`, record);
}
