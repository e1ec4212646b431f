import { envelope, type ListQuery } from '../declare/envelope.js';
import { listParameters, searchParameters } from '../document/parameters.js';
import { listMetadata } from '../document/responses.js';
import { beginTask, type Plan } from '../plan/plan.js';
import { isDeletedChoice, type Deleted } from '../query/parameters.js';
import { parseListQuery, type ListRequest } from '../query/list-query.js';
import { hasRelations, selectedFields } from '../query/record-request.js';
import { addRelations, restrict } from '../read/related-records.js';
import { run } from '../read/statements.js';
import { and } from '../sql/condition.js';
import type { Call } from '../store/call.js';
import type { Selection } from '../store/record-access.js';
import type { Operation } from './operation.js';
import { readCursorPage, readNumberedPage, type RecordList } from './page.js';

const DESCRIPTION = { data: 'records', metadata: listMetadata } as const;

export const findAll: Operation = {
  name: 'findAll',
  route: { verb: 'GET', path: '/', takes: ['query'] },
  needsRequest: 'with a total',
  description: { ...DESCRIPTION, id: 'list{many}', summary: 'List {tag}', parameters: listParameters },
  run: (plan, call, { query }) => list(plan, call, query, 'findAll'),
};

export const search: Operation = {
  name: 'search',
  route: { verb: 'GET', path: 'search', takes: ['query'] },
  enabledBy: 'enableSearch',
  needsRequest: 'with a total',
  copyOf: 'findAll',
  description: {
    ...DESCRIPTION,
    id: 'search{many}',
    summary: 'Search {tag}',
    parameters: (resource) => [...searchParameters(resource), ...listParameters(resource)],
  },
  run: (plan, call, { query }) => list(plan, call, query, 'search'),
};

const MESSAGES = { findAll: 'list', search: 'search' };

/** @throws 400 naming every wrong parameter */
async function list(plan: Plan, call: Call, query: ListQuery, operation: 'findAll' | 'search') {
  const { view } = await beginTask(plan, call, operation, deletedIn(plan, call, query));
  const { key, name } = plan.schema;
  const request = parseListQuery(query, view.list, operation);
  const condition = and(view.visible, await restrict(plan, call, request.condition));
  const selection = { condition, sort: request.sort, fields: selectedFields(request, key) };
  const { records, metadata } = await run(plan, call, (within) => readList(plan, within, request, selection));
  const { total, estimated } = metadata?.pagination ?? {};
  if (total !== undefined && !estimated) call.state?.answers.set(records, { total });
  const truncated = hasRelations(request) ? await addRelations(plan, call, records, request) : undefined;
  return envelope(`${name} ${MESSAGES[operation]}`, records, truncated ? { ...metadata, ...truncated } : metadata);
}

async function readList(
  plan: Plan,
  call: Call,
  { condition, cursor, page, count }: ListRequest,
  selection: Selection,
): Promise<RecordList<object>> {
  if (cursor) return readCursorPage(plan, call, selection, condition, cursor);
  if (page) return readNumberedPage(plan, call, selection, page, count);
  const { reader } = plan.store;
  const { maxListSize } = plan.options;
  if (maxListSize === undefined) return { records: await reader.find(call, selection) };
  const records = await reader.find(call, { ...selection, range: { limit: maxListSize + 1, offset: 0 } });
  return { records: records.slice(0, maxListSize), metadata: { truncated: records.length > maxListSize } };
}

export const choosesDeleted = (plan: Plan, call: Call): boolean =>
  plan.viewsFor(call.request).without.list.choosesDeleted;

/** What a query string chooses. Parsing it refuses `deleted` where it is not allowed. */
export const deletedIn = (plan: Plan, call: Call, { deleted }: ListQuery): Deleted =>
  isDeletedChoice(deleted) && choosesDeleted(plan, call) ? deleted : 'without';
