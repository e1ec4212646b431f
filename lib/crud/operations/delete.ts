import { envelope } from '../declare/envelope.js';
import { atomicParameter, idsParameter, purgeParameters } from '../document/parameters.js';
import { beginTask } from '../plan/plan.js';
import { parseBatchDeletion, refuseDuplicates, type RecordId } from '../query/batch-request.js';
import { parseDeleteQuery } from '../query/list-query.js';
import { sentKey } from '../query/raw-query.js';
import { readId, targetOf } from '../read/records.js';
import { deleteRecords } from '../write/delete-records.js';
import { writeSeparately } from '../write/items.js';
import { choosesDeleted } from './list.js';
import type { Operation } from './operation.js';

export const deleteOne: Operation = {
  name: 'delete',
  route: { verb: 'DELETE', path: ':id', takes: ['id', 'query'] },
  ifMatch: 'version',
  description: {
    id: 'delete{one}',
    summary: 'Delete a {one}',
    text: ({ deletion, options: { enableRestore } }) =>
      deletion ? `It is hidden${enableRestore ? ', and can be restored' : ''}.` : 'Nothing of it remains.',
    parameters: purgeParameters,
    data: { type: 'null' },
  },
  /** @throws 400 for a malformed id or parameter, 403, 404, 412, 428, 409 where other records refer to it */
  async run(plan, call, { id, query }) {
    const purges = parseDeleteQuery(query, choosesDeleted(plan, call));
    const key = readId(plan, id, deleteOne);
    const task = await beginTask(plan, call, 'delete', purges ? 'with' : 'without');
    await deleteRecords(task, [targetOf(task, { key, id }, deleteOne)], purges);
    return envelope(`${plan.schema.name} deleted`, null);
  },
};

export const deleteMany: Operation = {
  name: 'deleteMany',
  route: { verb: 'DELETE', path: 'batch', takes: ['query'] },
  enabledBy: 'enableBatch',
  ifMatch: 'any',
  copyOf: 'delete',
  description: {
    id: 'delete{many}',
    summary: 'Delete several {tag}, all or none',
    parameters: (resource) => [idsParameter(resource), atomicParameter, ...purgeParameters(resource)],
    isBatch: true,
    data: { type: 'null' },
  },
  /** @throws 400 for a malformed id or parameter, 403, 404, 409 */
  async run(plan, call, { query }) {
    const { schema, options } = plan;
    const limits = { maxBatchSize: options.maxBatchSize, mayPurge: choosesDeleted(plan, call) };
    const ids = schema.key.fields.length > 1 && query['ids'];
    const sent = typeof ids === 'string' ? { ...query, ids: sentKey(call.request, ids) } : query;
    const { targets, isAtomic, purges } = parseBatchDeletion(sent, schema.key, limits);
    const removeAll = async (each: readonly RecordId[]): Promise<null> => {
      refuseDuplicates(each, schema.key, () => 'ids');
      const task = await beginTask(plan, call, 'deleteMany', purges ? 'with' : 'without');
      const removed = each.map((target) => targetOf(task, target, deleteMany));
      await deleteRecords(task, removed, purges);
      return null;
    };
    const deleted = isAtomic
      ? await removeAll(targets)
      : await writeSeparately(plan, call, targets, 200, (target) => removeAll([target]));
    return envelope(`${schema.name} batch deleted`, deleted);
  },
};
