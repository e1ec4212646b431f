import { envelope } from '../declare/envelope.js';
import { aggregateParameters, conditionParameters } from '../document/parameters.js';
import { aggregateRows, COUNT_RESULT } from '../document/responses.js';
import { beginTask } from '../plan/plan.js';
import { parseAggregateQuery } from '../query/aggregate-query.js';
import { parseCountQuery } from '../query/list-query.js';
import { refuseParameter } from '../query/query-errors.js';
import { restrict } from '../read/related-records.js';
import { run } from '../read/run-with-retries.js';
import { and } from '../sql/condition.js';
import { deletedIn } from './list.js';
import type { Operation } from './operation.js';

export const count: Operation = {
  name: 'count',
  route: { verb: 'GET', path: 'count', takes: ['query'] },
  enabledBy: 'enableCount',
  copyOf: 'findAll',
  description: { id: 'count{many}', summary: 'Count {tag}', parameters: conditionParameters, data: COUNT_RESULT },
  /** @throws 400 naming every wrong parameter */
  async run(plan, call, { query }) {
    const { view } = await beginTask(plan, call, 'count', deletedIn(plan, call, query));
    const filter = await restrict(plan, call, parseCountQuery(query, view.list));
    const found = await run(plan, call, (within) => plan.store.reader.count(within, and(view.visible, filter)));
    return envelope(`${plan.schema.name} count`, { count: found });
  },
};

const MAX_GROUPS = 1_000;

export const aggregate: Operation = {
  name: 'aggregate',
  route: { verb: 'GET', path: 'aggregate', takes: ['query'] },
  enabledBy: 'aggregatableFields',
  copyOf: 'findAll',
  description: {
    id: 'aggregate{many}',
    summary: 'Add up {tag}',
    parameters: (resource) => [...aggregateParameters(resource), ...conditionParameters(resource)],
    data: aggregateRows,
  },
  /** @throws 400 naming every wrong parameter */
  async run(plan, call, { query }) {
    const { view } = await beginTask(plan, call, 'aggregate', deletedIn(plan, call, query));
    const request = parseAggregateQuery(query, view.list, plan.aggregatable);
    const condition = and(view.visible, await restrict(plan, call, request.condition));
    const { reader } = plan.store;
    const most = MAX_GROUPS + 1;
    const rows = await run(plan, call, (within) => reader.aggregate(within, condition, request.aggregation, most));
    if (rows.length > MAX_GROUPS)
      refuseParameter('groupBy', `must make at most ${MAX_GROUPS} groups: narrow them with a filter`);
    return envelope(`${plan.schema.name} aggregate`, rows);
  },
};
