import { envelope, type Envelope, type ListQuery } from '../declare/envelope.js';
import { viewOf } from '../plan/caller-view.js';
import type { Plan } from '../plan/plan.js';
import { parseRecordQuery } from '../query/record-request.js';
import { find, missing, readId } from '../read/records.js';
import type { Call } from '../store/call.js';
import { answerRecord } from './answer.js';

/** @throws 400 for a malformed id or parameter, 404 for an unknown id */
export async function findById<T extends object>(
  plan: Plan<T>,
  call: Call,
  id: string,
  query: ListQuery = {},
): Promise<Envelope<unknown>> {
  const key = readId(plan, id);
  const view = await viewOf(plan, call, 'findById');
  const request = parseRecordQuery(query, view.list);
  const record = await find(plan, call, view, key, { request });
  if (!record) throw missing(plan, id);
  const message = `${plan.schema.name} found`;
  const isWhole = !('fields' in query || 'include' in query);
  return isWhole ? answerRecord(call, view, message, record) : envelope(message, record);
}
