import { envelope } from '../declare/envelope.js';
import { conditionParameters } from '../document/parameters.js';
import { counted } from '../document/responses.js';
import { beginTask } from '../plan/caller-view.js';
import { parseCountQuery } from '../query/list-query.js';
import { restrict } from '../read/related-records.js';
import { run } from '../read/statements.js';
import { and } from '../sql/condition.js';
import { deletedIn } from './list.js';
import type { Operation } from './operation.js';

export const count: Operation = {
  name: 'count',
  route: { verb: 'GET', path: 'count', takes: ['query'] },
  enabledBy: 'enableCount',
  copyOf: 'findAll',
  description: { id: 'count{many}', summary: 'Count {tag}', parameters: conditionParameters, data: counted },
  /** @throws 400 naming every wrong parameter */
  async run({ plan, call }, { query }) {
    const { view } = await beginTask(plan, call, 'count', deletedIn(plan, call, query));
    const asked = await restrict(plan, call, parseCountQuery(query, view.list));
    const found = await run(plan, call, (within) => plan.store.reader.count(within, and(view.visible, asked)));
    return envelope(`${plan.schema.name} count`, { count: found });
  },
};
