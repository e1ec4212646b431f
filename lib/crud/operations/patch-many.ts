import type { JsonObject } from '../../http/json-body.js';
import { envelope, type Envelope, type ListQuery } from '../declare/envelope.js';
import type { GeneratedHooks } from '../declare/generated-hooks.js';
import { beginTask } from '../plan/caller-view.js';
import type { Plan } from '../plan/plan.js';
import { readBatch, readPatch, refuseDuplicates } from '../query/batch-request.js';
import { targetOf } from '../read/records.js';
import type { Call } from '../store/call.js';
import { readBody } from '../write/bodies.js';
import { checkItems, inBatch, unnamed, writeSeparately, type NameItem } from '../write/items.js';
import { updateRecords } from '../write/update-records.js';

/** @throws 400 naming every wrong field, 403, 404, 409 */
export async function patchMany<T extends object>(
  plan: Plan<T>,
  call: Call,
  body: JsonObject,
  query: ListQuery | undefined,
  hooks: GeneratedHooks<T>,
): Promise<Envelope<unknown>> {
  const { key, name } = plan.schema;
  const { items, isAtomic } = readBatch(body, query, plan.options.maxBatchSize);
  const patch = async (each: readonly unknown[], nameOf: NameItem): Promise<T[]> => {
    const patches = await checkItems(each, nameOf, (item) => readPatch(item, key));
    const [{ name: keyName = '' } = {}] = key.fields;
    refuseDuplicates(patches, key, (index) => `${nameOf(index)}.${keyName}`);
    const task = await beginTask(plan, call, 'patchMany');
    const targets = patches.map((patched) => targetOf(task, patched));
    const sent = patches.map(({ body: patch }) => readBody(task, patch, 'patch'));
    return updateRecords(task, { targets, sent, nameOf, hooks, isBatch: true });
  };
  const updated = isAtomic
    ? await patch(items, inBatch)
    : await writeSeparately(plan, call, items, 200, async (item) => (await patch([item], unnamed))[0]);
  return envelope(`${name} batch updated`, updated);
}
