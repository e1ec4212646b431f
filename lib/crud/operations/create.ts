/** `create` and `createMany`. */
import type { JsonObject } from '../../http/json-body.js';
import { envelope, type BatchResult, type Envelope, type ListQuery } from '../declare/envelope.js';
import type { GeneratedHooks } from '../declare/generated-hooks.js';
import { beginTask } from '../plan/caller-view.js';
import type { Plan } from '../plan/plan.js';
import { readBatch, readItem } from '../query/batch-request.js';
import type { Call } from '../store/call.js';
import { createRecords } from '../write/create-records.js';
import { checkItems, inBatch, unnamed, writeSeparately } from '../write/items.js';
import { answerRecord } from './answer.js';

/** @throws 400 naming every wrong field, 401, 403, 409 */
export async function create<T extends object>(
  plan: Plan<T>,
  call: Call,
  body: JsonObject,
  hooks: GeneratedHooks<T>,
): Promise<Envelope<unknown>> {
  const task = await beginTask(plan, call, 'create');
  const answer = ([created]: readonly T[]) => answerRecord(task, `${plan.schema.name} created`, created as T);
  return createRecords(task, { bodies: [body], nameOf: unnamed, hooks, answer });
}

/** @throws 400 naming every wrong field, 401, 403, 409 */
export async function createMany<T extends object>(
  plan: Plan<T>,
  call: Call,
  body: JsonObject,
  query: ListQuery | undefined,
  hooks: GeneratedHooks<T>,
): Promise<Envelope<unknown>> {
  const { items, isAtomic } = readBatch(body, query, plan.options.maxBatchSize);
  const answer = (created: readonly T[] | BatchResult[]) => envelope(`${plan.schema.name} batch created`, created);
  if (isAtomic) {
    const bodies = await checkItems(items, inBatch, readItem);
    const task = await beginTask(plan, call, 'createMany');
    return createRecords(task, { bodies, nameOf: inBatch, hooks, answer });
  }
  const results = await writeSeparately(plan, call, items, 201, async (item) => {
    const bodies = [readItem(item)];
    const task = await beginTask(plan, call, 'createMany');
    return createRecords(task, { bodies, nameOf: unnamed, hooks, answer: ([created]) => created });
  });
  return answer(results);
}
