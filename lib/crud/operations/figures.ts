/** What is known of records without reading them: `count`, `aggregate` and `exists`. */
import { envelope, type Envelope, type ListQuery } from '../declare/envelope.js';
import { beginTask } from '../plan/caller-view.js';
import type { Plan } from '../plan/plan.js';
import { parseAggregateQuery } from '../query/aggregate-query.js';
import { parseCountQuery } from '../query/list-query.js';
import { refuseParameter } from '../query/query-errors.js';
import * as records from '../read/records.js';
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

const MAX_GROUPS = 1_000;

/** @throws 400 naming every wrong parameter */
export async function aggregate(plan: Plan, call: Call, query: ListQuery): Promise<Envelope<unknown>> {
  const { name } = plan.schema;
  const { view } = await beginTask(plan, call, 'aggregate', deletedIn(plan, call, query));
  const asked = parseAggregateQuery(query, view.list, plan.aggregatable);
  const condition = and(view.visible, await restrict(plan, call, asked.condition));
  const { reader } = plan.store;
  const rows = await run(plan, call, (within) =>
    reader.aggregate(within, condition, asked.aggregation, MAX_GROUPS + 1),
  );
  if (rows.length > MAX_GROUPS)
    refuseParameter('groupBy', `must make at most ${MAX_GROUPS} groups: narrow them with a filter`);
  return envelope(`${name} aggregate`, rows);
}

/** @throws 400 for a malformed id */
export async function exists(plan: Plan, call: Call, id: string): Promise<Envelope<unknown>> {
  const key = records.readId(plan, id, 'exists');
  const task = await beginTask(plan, call, 'exists');
  const isFound = await records.exists(task, records.withId(task, key));
  return envelope(`${plan.schema.name} ${isFound ? 'exists' : 'does not exist'}`, { exists: isFound });
}
