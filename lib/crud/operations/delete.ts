/** `delete` and `deleteMany`. */
import { envelope, type Envelope, type ListQuery } from '../declare/envelope.js';
import type { GeneratedHooks } from '../declare/generated-hooks.js';
import { beginTask } from '../plan/caller-view.js';
import type { Plan } from '../plan/plan.js';
import { parseBatchDeletion, refuseDuplicates, type BatchTarget } from '../query/batch-request.js';
import { parseDeleteQuery } from '../query/list-query.js';
import { sentKey } from '../query/raw-query.js';
import { readId, targetOf } from '../read/records.js';
import type { Call } from '../store/call.js';
import { deleteRecords } from '../write/delete-records.js';
import { writeSeparately } from '../write/items.js';

/** @throws 400 for a malformed id or parameter, 403, 404, 412, 428, 409 where other records refer to it */
export async function remove<T extends object>(
  plan: Plan<T>,
  call: Call,
  id: string,
  query: ListQuery = {},
  hooks: GeneratedHooks<T>,
): Promise<Envelope<unknown>> {
  const purges = parseDeleteQuery(query, plan.variantFor(call.request).choosesDeleted);
  const key = readId(plan, id, 'delete');
  const task = await beginTask(plan, call, 'delete', purges ? 'with' : 'without');
  const target = targetOf(task, { key, id });
  await deleteRecords(task, { targets: [target], purges, hooks, isBatch: false });
  return envelope(`${plan.schema.name} deleted`, null);
}

/** @throws 400 for a malformed id or parameter, 403, 404, 409 */
export async function deleteMany<T extends object>(
  plan: Plan<T>,
  call: Call,
  query: ListQuery,
  hooks: GeneratedHooks<T>,
): Promise<Envelope<unknown>> {
  const { schema, options } = plan;
  const limits = { maxBatchSize: options.maxBatchSize, mayPurge: plan.variantFor(call.request).choosesDeleted };
  const ids = schema.key.fields.length > 1 && query['ids'];
  const sent = typeof ids === 'string' ? { ...query, ids: sentKey(call.request, ids) } : query;
  const { targets, isAtomic, purges } = parseBatchDeletion(sent, schema.key, limits);
  const removeAll = async (each: readonly BatchTarget[]): Promise<null> => {
    refuseDuplicates(each, schema.key, () => 'ids');
    const task = await beginTask(plan, call, 'deleteMany', purges ? 'with' : 'without');
    const removed = each.map((target) => targetOf(task, target));
    await deleteRecords(task, { targets: removed, purges, hooks, isBatch: true });
    return null;
  };
  const deleted = isAtomic
    ? await removeAll(targets)
    : await writeSeparately(plan, call, targets, 200, (target) => removeAll([target]));
  return envelope(`${schema.name} batch deleted`, deleted);
}
