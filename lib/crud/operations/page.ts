/** Pages of lists and searches: numbered ones with their total, and those that continue behind a cursor. */
import type { ListMetadata } from '../declare/envelope.js';
import type { Plan } from '../plan/plan.js';
import { encodeCursor, readCursor } from '../query/cursor.js';
import type { CountMode, CursorPage, Page } from '../query/page-parameters.js';
import { refuseParameter } from '../query/query-errors.js';
import type { Field } from '../../entities/entity-schema.js';
import { and, compare, type Condition } from '../sql/condition.js';
import { boundValues, shapeOf } from '../sql/condition-sql.js';
import type { Position } from '../sql/keyset.js';
import type { Call } from '../store/call.js';
import type { Selection } from '../store/record-access.js';

export interface RecordList<T> {
  readonly records: T[];
  readonly metadata?: ListMetadata;
}

export async function readNumberedPage<T extends object>(
  { store: { reader } }: Plan<T>,
  call: Call,
  selection: Selection,
  page: Page,
  count: CountMode | undefined,
): Promise<RecordList<T>> {
  const range = { limit: page.size, offset: (page.page - 1) * page.size };
  const { condition } = selection;
  const figure = count === 'estimated' ? await reader.estimate(call, condition) : undefined;
  const isCounted = figure === undefined && count !== 'none';
  const exact = isCounted ? await reader.count(call, condition) : undefined;
  const records = await reader.find(call, { ...selection, range });
  const total = exact ?? (figure === undefined ? undefined : withinPage(figure, range, records.length));
  if (total === undefined) return { records, metadata: { pagination: page } };
  const totals = { total, totalPages: Math.ceil(total / page.size), ...(!isCounted && { estimated: true as const }) };
  return { records, metadata: { pagination: { ...page, ...totals } } };
}

/** An estimate is never below what the page shows, and the last page is exact. */
function withinPage(figure: number, { limit, offset }: Required<Selection>['range'], length: number): number {
  const isLast = length < limit && (length > 0 || offset === 0);
  return isLast ? offset + length : Math.max(figure, offset + length);
}

/** @param filter the condition that the client sent @throws 400 where the cursor is not of this sort and filter */
export async function readCursorPage<T extends object>(
  plan: Plan<T>,
  call: Call,
  selection: Selection,
  filter: Condition,
  { size, after }: CursorPage,
): Promise<RecordList<T>> {
  const { schema, store, database } = plan;
  const { sort } = selection;
  const keys = sort.map(({ field, descending }) => [field.name, descending]);
  const values = boundValues(filter, database.dataSource);
  const binding = JSON.stringify([schema.name, keys, shapeOf(filter), values]);
  const position =
    after === undefined ? undefined : await readPosition(plan, call, selection, readCursor(after, sort, binding));
  const found = await store.reader.findAfter(call, selection, size + 1, position);
  const page = found.slice(0, size);
  const last = page.at(-1)?.position;
  const place = (each: Field): number => sort.findIndex(({ field }) => field === each);
  const keyOf = (position: Position): unknown =>
    schema.key.join(schema.key.fields.map((each) => position[place(each)]));
  const hasNext = found.length > size;
  const next = hasNext && last ? encodeCursor(last, String(keyOf(last)), binding) : null;
  return { records: page.map(({ record }) => record), metadata: { pagination: { size, next, hasNext } } };
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
