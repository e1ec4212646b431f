import { envelope, type Envelope } from '../declare/envelope.js';
import { beginTask } from '../plan/caller-view.js';
import type { Plan } from '../plan/plan.js';
import * as records from '../read/records.js';
import type { Call } from '../store/call.js';

/** @throws 400 for a malformed id */
export async function exists(plan: Plan, call: Call, id: string): Promise<Envelope<unknown>> {
  const key = records.readId(plan, id, 'exists');
  const task = await beginTask(plan, call, 'exists');
  const isFound = await records.exists(task, records.withId(task, key));
  return envelope(`${plan.schema.name} ${isFound ? 'exists' : 'does not exist'}`, { exists: isFound });
}
