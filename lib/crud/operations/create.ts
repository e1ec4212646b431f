import { textHeader } from '../../documents/operation-document.js';
import { envelope, type BatchResult } from '../declare/envelope.js';
import { atomicParameter } from '../document/parameters.js';
import { beginTask } from '../plan/plan.js';
import { readBatch, readItem } from '../query/batch-request.js';
import { answerRecord } from '../read/records.js';
import { createRecords } from '../write/create-records.js';
import { checkItems, inBatch, noName, writeSeparately } from '../write/items.js';
import type { Operation } from './operation.js';

export const create: Operation = {
  name: 'create',
  route: { verb: 'POST', path: '/', takes: ['body'] },
  isRepeatable: true,
  description: {
    id: 'create{one}',
    summary: 'Create a {one}',
    body: 'Create',
    data: 'record',
    headers: textHeader('Location', 'The path of the record.'),
  },
  /** @throws 400 naming every wrong field, 401, 403, 409 */
  async run(plan, call, { body }) {
    const task = await beginTask(plan, call, 'create');
    const answer = ([created]: readonly object[]) =>
      answerRecord(task, `${plan.schema.name} created`, created as object);
    return createRecords(task, [body], noName, answer);
  },
};

export const createMany: Operation = {
  name: 'createMany',
  route: { verb: 'POST', path: 'batch', takes: ['body', 'query'] },
  enabledBy: 'enableBatch',
  isRepeatable: true,
  copyOf: 'create',
  description: {
    id: 'create{many}',
    summary: 'Create several {tag}, all or none',
    parameters: () => [atomicParameter],
    body: 'Create',
    isBatch: true,
    data: 'records',
  },
  /** @throws 400 naming every wrong field, 401, 403, 409 */
  async run(plan, call, { body, query }) {
    const { items, isAtomic } = readBatch(body, query, plan.options.maxBatchSize);
    const answer = (created: readonly object[] | BatchResult[]) =>
      envelope(`${plan.schema.name} batch created`, created);
    if (isAtomic) {
      const bodies = await checkItems(items, inBatch, readItem);
      return createRecords(await beginTask(plan, call, 'createMany'), bodies, inBatch, answer);
    }
    const results = await writeSeparately(plan, call, items, 201, async (item) => {
      const body = readItem(item);
      return createRecords(await beginTask(plan, call, 'createMany'), [body], noName, ([created]) => created);
    });
    return answer(results);
  },
};
