import { envelope, type Envelope, type ListQuery } from '../declare/envelope.js';
import { beginTask } from '../plan/caller-view.js';
import type { Plan } from '../plan/plan.js';
import { parseCountQuery } from '../query/list-query.js';
import { restrict } from '../read/related-records.js';
import { run } from '../read/statements.js';
import { and } from '../sql/condition.js';
import type { Call } from '../store/call.js';
import { deletedIn } from './list.js';

/** @throws 400 naming every wrong parameter */
export async function count(plan: Plan, call: Call, query: ListQuery): Promise<Envelope<unknown>> {
  const { view } = await beginTask(plan, call, 'count', deletedIn(plan, call, query));
  const asked = await restrict(plan, call, parseCountQuery(query, view.list));
  const found = await run(plan, call, (within) => plan.store.reader.count(within, and(view.visible, asked)));
  return envelope(`${plan.schema.name} count`, { count: found });
}
