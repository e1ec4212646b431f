import type { OperationInput } from '../declare/custom-operation.js';
import { envelope } from '../declare/envelope.js';
import { atomicParameter } from '../document/parameters.js';
import { beginTask, type Plan } from '../plan/plan.js';
import { readBatch, readPatch, refuseDuplicates } from '../query/batch-request.js';
import { answerRecord, readId, targetOf } from '../read/records.js';
import type { Call } from '../store/call.js';
import { readBody } from '../write/bodies.js';
import { checkItems, inBatch, noName, writeSeparately, type NameItem } from '../write/items.js';
import { updateRecords } from '../write/update-records.js';
import type { Operation } from './operation.js';

export const update: Operation = {
  name: 'update',
  route: { verb: 'PUT', path: ':id', takes: ['id', 'body'] },
  ifMatch: 'version',
  description: {
    id: 'replace{one}',
    summary: 'Replace a {one}',
    text: 'A field that is left out gets its default, or `null`.',
    body: 'Replace',
    data: 'record',
  },
  run: (plan, call, input) => change(update, plan, call, input),
};

export const patch: Operation = {
  name: 'patch',
  route: { verb: 'PATCH', path: ':id', takes: ['id', 'patch'] },
  ifMatch: 'version',
  copyOf: 'update',
  description: {
    id: 'update{one}',
    summary: 'Change fields of a {one}',
    text: 'A JSON merge patch (RFC 7396): a field that is left out keeps its value.',
    body: 'Patch',
    data: 'record',
  },
  run: (plan, call, input) => change(patch, plan, call, input),
};

/** @throws 400 naming every wrong field, 403, 404, 409, 412, 428 */
async function change(operation: Operation, plan: Plan, call: Call, { id, body }: OperationInput) {
  const kind = operation === update ? 'update' : 'patch';
  const key = readId(plan, id, operation);
  const task = await beginTask(plan, call, kind);
  const targets = [targetOf(task, { key, id }, operation)];
  const sent = [readBody(task, body, kind)];
  const [updated] = await updateRecords(task, { targets, sent, nameOf: noName });
  return answerRecord(task, `${plan.schema.name} updated`, updated as object);
}

export const patchMany: Operation = {
  name: 'patchMany',
  route: { verb: 'PATCH', path: 'batch', takes: ['body', 'query'] },
  enabledBy: 'enableBatch',
  ifMatch: 'any',
  copyOf: 'patch',
  description: {
    id: 'update{many}',
    summary: 'Change fields of several {tag}, all or none',
    parameters: () => [atomicParameter],
    body: 'PatchItem',
    isBatch: true,
    data: 'records',
  },
  /** @throws 400 naming every wrong field, 403, 404, 409 */
  async run(plan, call, { body, query }) {
    const { key, name } = plan.schema;
    const { items, isAtomic } = readBatch(body, query, plan.options.maxBatchSize);
    const patchAll = async (each: readonly unknown[], nameOf: NameItem): Promise<object[]> => {
      const patches = await checkItems(each, nameOf, (item) => readPatch(item, key));
      const [{ name: keyName = '' } = {}] = key.fields;
      refuseDuplicates(patches, key, (index) => `${nameOf(index)}.${keyName}`);
      const task = await beginTask(plan, call, 'patchMany');
      const targets = patches.map((patched) => targetOf(task, patched, patchMany));
      const sent = patches.map(({ body: fields }) => readBody(task, fields, 'patch'));
      return updateRecords(task, { targets, sent, nameOf });
    };
    const updated = isAtomic
      ? await patchAll(items, inBatch)
      : await writeSeparately(plan, call, items, 200, async (item) => (await patchAll([item], noName))[0]);
    return envelope(`${name} batch updated`, updated);
  },
};
