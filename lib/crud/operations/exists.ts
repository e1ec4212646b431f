import { envelope } from '../declare/envelope.js';
import { openObject } from '../../documents/operation-document.js';
import { beginTask } from '../plan/plan.js';
import * as records from '../read/records.js';
import type { Operation } from './operation.js';

export const exists: Operation = {
  name: 'exists',
  route: { verb: 'GET', path: 'exists/:id', takes: ['id'] },
  enabledBy: 'enableExists',
  description: {
    id: 'exists{one}',
    summary: 'Ask whether a {one} exists',
    data: openObject({ exists: { type: 'boolean' } }),
    acceptsUnknownId: true,
  },
  /** @throws 400 for a malformed id */
  async run(plan, call, { id }) {
    const key = records.readId(plan, id, exists);
    const task = await beginTask(plan, call, 'exists');
    const isFound = await records.exists(task, records.withId(task, key));
    return envelope(`${plan.schema.name} ${isFound ? 'exists' : 'does not exist'}`, { exists: isFound });
  },
};
