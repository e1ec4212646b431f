import { envelope, type Envelope, type ListQuery } from '../declare/envelope.js';
import { beginTask } from '../plan/caller-view.js';
import type { Plan } from '../plan/plan.js';
import { hasRelations, parseRecordQuery } from '../query/record-request.js';
import { findColumns, missing, notEnabled, readId } from '../read/records.js';
import { addRelations } from '../read/related-records.js';
import type { Call } from '../store/call.js';
import { answerRecord } from './answer.js';

/** @throws 400 for a malformed id or parameter, 404 for an unknown id */
export async function findById<T extends object>(
  plan: Plan<T>,
  call: Call,
  id: string,
  query: ListQuery = {},
): Promise<Envelope<unknown>> {
  const key = readId(plan, id, 'findById');
  const task = await beginTask(plan, call, 'findById');
  const request = parseRecordQuery(query, task.view.list);
  const record = await findColumns(task, key, request);
  if (!record) throw notEnabled(plan, id, 'findById') ?? missing(plan, id);
  const metadata = hasRelations(request) ? await addRelations(plan, call, [record], request) : undefined;
  const message = `${plan.schema.name} found`;
  const isWhole = !('fields' in query || 'include' in query);
  return isWhole ? answerRecord(task, message, record) : envelope(message, record, metadata);
}
