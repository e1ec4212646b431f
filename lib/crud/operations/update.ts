import type { JsonObject } from '../../http/json-body.js';
import type { Envelope } from '../declare/envelope.js';
import type { GeneratedHooks } from '../declare/generated-hooks.js';
import { beginTask } from '../plan/caller-view.js';
import type { Plan } from '../plan/plan.js';
import { readId, targetOf } from '../read/records.js';
import type { Call } from '../store/call.js';
import { readBody } from '../write/bodies.js';
import { unnamed } from '../write/items.js';
import { updateRecords } from '../write/update-records.js';
import { answerRecord } from './answer.js';

/**
 * `update` and `patch` of one record.
 * @throws 400 naming every wrong field, 403, 404, 409, 412, 428
 */
export async function update<T extends object>(
  plan: Plan<T>,
  call: Call,
  operation: 'update' | 'patch',
  id: string,
  body: JsonObject,
  hooks: GeneratedHooks<T>,
): Promise<Envelope<unknown>> {
  const key = readId(plan, id, operation);
  const task = await beginTask(plan, call, operation);
  const targets = [targetOf(task, { key, id })];
  const sent = [readBody(task, body, operation)];
  const [updated] = await updateRecords(task, { targets, sent, nameOf: unnamed, hooks, isBatch: false });
  return answerRecord(task, `${plan.schema.name} updated`, updated as T);
}
