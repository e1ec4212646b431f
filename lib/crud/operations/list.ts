/** Lists, also those of searches: whole, in numbered pages with their total, and in pages that continue behind a cursor. */
import type { Field } from '../../entities/entity-schema.js';
import { envelope, type ListMetadata, type ListQuery } from '../declare/envelope.js';
import { listParameters } from '../document/parameters.js';
import { listMetadata } from '../document/responses.js';
import { beginTask, type Plan } from '../plan/plan.js';
import { encodeCursor, readCursor } from '../query/cursor.js';
import { parseListQuery, type ListRequest } from '../query/list-query.js';
import type { CountMode, CursorPage, Page } from '../query/page-parameters.js';
import { isDeletedChoice, type Deleted } from '../query/parameters.js';
import { refuseParameter } from '../query/query-errors.js';
import { hasRelations, selectedFields } from '../query/record-request.js';
import { addRelations, restrict } from '../read/related-records.js';
import { run } from '../read/run-with-retries.js';
import { and, boundValues, compare, shapeOf, type Condition } from '../sql/condition.js';
import type { Position } from '../sql/keyset.js';
import type { Call } from '../store/call.js';
import type { Reader } from '../store/reader.js';
import type { Selection } from '../store/table.js';
import type { Operation } from './operation.js';

export const LIST_DESCRIPTION = { data: 'records', metadata: listMetadata } as const;

export const findAll: Operation = {
  name: 'findAll',
  route: { verb: 'GET', path: '/', takes: ['query'] },
  needsRequest: 'with a total',
  description: { ...LIST_DESCRIPTION, id: 'list{many}', summary: 'List {tag}', parameters: listParameters },
  run: (plan, call, { query }) => list(plan, call, query, 'findAll'),
};

/** The largest total that `count=capped` counts. */
const MOST_COUNTED = 1_000;

const MESSAGES = { findAll: 'list', search: 'search' };

/** @throws 400 naming every wrong parameter */
export async function list(plan: Plan, call: Call, query: ListQuery, operation: 'findAll' | 'search') {
  const { view } = await beginTask(plan, call, operation, deletedIn(plan, call, query));
  const { key, name } = plan.schema;
  const request = parseListQuery(query, view.list, operation);
  const condition = and(view.visible, await restrict(plan, call, request.condition));
  const selection = { condition, sort: request.sort, fields: selectedFields(request, key) };
  const { records, metadata } = await run(plan, call, (within) => readList(plan, within, request, selection));
  const { total, estimated, capped } = metadata?.pagination ?? {};
  if (total !== undefined && !estimated && !capped) call.state?.answers.set(records, { total });
  const truncated = hasRelations(request) ? await addRelations(plan, call, records, request) : undefined;
  return envelope(`${name} ${MESSAGES[operation]}`, records, truncated ? { ...metadata, ...truncated } : metadata);
}

async function readList(plan: Plan, call: Call, request: ListRequest, selection: Selection): Promise<RecordList> {
  const { condition, cursor, page, count } = request;
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

interface RecordList {
  readonly records: object[];
  readonly metadata?: ListMetadata;
}

async function readNumberedPage({ store }: Plan, call: Call, selection: Selection, page: Page, count?: CountMode) {
  const [limit, offset] = [page.size, (page.page - 1) * page.size];
  const records = await store.reader.find(call, { ...selection, range: { limit, offset } });
  const { length } = records;
  const isLast = length < limit && (length > 0 || offset === 0);
  const seen = offset + length;
  // The last page has no need of a count, unless the client asks for an estimate.
  const isKnown = isLast && (count ?? 'exact') === 'exact';
  const found = isKnown ? { figure: seen } : await findTotal(store.reader, call, selection.condition, count);
  if (!found) return { records, metadata: { pagination: page } };
  const { figure, mark } = found;
  // Such a total is never below what the page shows.
  const total = mark ? (isLast ? seen : Math.max(figure, seen)) : figure;
  const totals = { total, totalPages: Math.ceil(total / page.size), ...(mark && { [mark]: true as const }) };
  return { records, metadata: { pagination: { ...page, ...totals } } };
}

/** @returns with a mark where the figure is not exact */
async function findTotal(reader: Reader, call: Call, condition: Condition, count: CountMode | undefined) {
  if (count === 'none') return undefined;
  const figure = count === 'estimated' ? await reader.estimate(call, condition) : undefined;
  if (figure !== undefined) return { figure, mark: 'estimated' };
  if (count !== 'capped') return { figure: await reader.count(call, condition) };
  const counted = await reader.countUpTo(call, condition, MOST_COUNTED + 1);
  return counted > MOST_COUNTED ? { figure: MOST_COUNTED, mark: 'capped' } : { figure: counted };
}

/** @param filter the condition that the client sent @throws 400 where the cursor is not of this sort and filter */
async function readCursorPage(plan: Plan, call: Call, selection: Selection, filter: Condition, page: CursorPage) {
  const { size, after } = page;
  const { schema, store, database } = plan;
  const { sort } = selection;
  const keys = sort.map(({ field, descending }) => [field.name, descending]);
  const values = boundValues(filter, database.dataSource);
  const binding = JSON.stringify([schema.name, keys, shapeOf(filter), values]);
  const position =
    after === undefined ? undefined : await readPosition(plan, call, selection, readCursor(after, sort, binding));
  const found = await store.reader.findAfter(call, selection, size + 1, position);
  const kept = found.slice(0, size);
  const last = kept.at(-1)?.position;
  const place = (each: Field): number => sort.findIndex(({ field }) => field === each);
  const keyOf = (position: Position): unknown =>
    schema.key.join(schema.key.fields.map((each) => position[place(each)]));
  const hasNext = found.length > size;
  const next = hasNext && last ? encodeCursor(last, String(keyOf(last)), binding) : null;
  return { records: kept.map(({ record }) => record), metadata: { pagination: { size, next, hasNext } } };
}

/** @throws 400 */
async function readPosition(
  { schema, store }: Plan,
  call: Call,
  { condition: visible, sort }: Selection,
  continuation: ReturnType<typeof readCursor>,
): Promise<Position> {
  if (continuation === undefined)
    return refuseParameter('after', 'must be `next` of a page with the same sort and filter');
  if (typeof continuation !== 'string') return continuation;
  const key = schema.key.split(continuation) ?? refuseParameter('after', 'must be `next` of a page');
  const exact = schema.key.fields.map((field, index) => compare(field, 'isExactly', key[index]));
  const condition = and(...exact, visible);
  const [record] = await store.reader.findAfter(call, { condition, fields: [], sort }, 1, undefined);
  if (record) return record.position;
  return refuseParameter('after', 'refers to a record that does not exist any more: start with the first page');
}
