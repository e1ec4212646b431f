/** Pages of lists and searches: numbered ones with their total, and those that continue behind a cursor. */
import type { ListMetadata } from '../declare/envelope.js';
import { and, compare, isEverything, type Condition } from '../sql/condition.js';
import { encodeCursor, readCursor } from '../query/cursor.js';
import type { Position } from '../sql/keyset.js';
import type { CountMode, CursorPage, Page } from '../query/page-parameters.js';
import { QueryErrors } from '../query/query-errors.js';
import { boundValues, shapeOf } from '../sql/condition-sql.js';
import type { RecordReader, Selection } from '../store/record-access.js';
import type { ResourceAccess } from './resource-access.js';

export interface RecordList<T> {
  readonly records: T[];
  readonly metadata?: ListMetadata;
}

export async function readNumberedPage<T>(
  reader: RecordReader<T>,
  selection: Selection,
  page: Page,
  count: CountMode | undefined,
): Promise<RecordList<T>> {
  const range = { limit: page.size, offset: (page.page - 1) * page.size };
  const { condition } = selection;
  const figure = count === 'estimated' && isEverything(condition) ? await reader.estimate() : undefined;
  const isCounted = figure === undefined && count !== 'none';
  const exact = isCounted ? await reader.count(condition) : undefined;
  const records = await reader.find({ ...selection, range });
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

/**
 * @param asked the condition that the client sent
 * @throws 400 where the cursor is not of this sort and filter
 */
export async function readCursorPage<T extends object>(
  access: ResourceAccess<T>,
  selection: Selection,
  asked: Condition,
  { size, after }: CursorPage,
): Promise<RecordList<T>> {
  const { schema } = access.resource;
  const { sort } = selection;
  const keys = sort.map(({ field, descending }) => [field.name, descending]);
  const values = boundValues(asked, access.dataSource);
  const binding = JSON.stringify([schema.name, keys, shapeOf(asked), values]);
  return access.run(async () => {
    const position =
      after === undefined ? undefined : await readPosition(access, selection, readCursor(after, sort, binding));
    const found = await access.store.reader.findAfter(selection, size + 1, position);
    const page = found.slice(0, size);
    const last = page.at(-1)?.position;
    const key = last?.[sort.findIndex(({ field }) => field === schema.id)];
    const hasNext = found.length > size;
    const next = hasNext && last ? encodeCursor(last, String(key), binding) : null;
    return { records: page.map(({ record }) => record), metadata: { pagination: { size, next, hasNext } } };
  });
}

/** @throws 400 */
async function readPosition<T extends object>(
  { resource, store }: ResourceAccess<T>,
  { condition: visible, sort }: Selection,
  continuation: ReturnType<typeof readCursor>,
): Promise<Position> {
  if (continuation === undefined) return refuse('must be `next` of a page with the same sort and filter');
  if (typeof continuation !== 'string') return continuation;
  const condition = and(compare(resource.schema.id, 'isExactly', continuation), visible);
  const [record] = await store.reader.findAfter({ condition, fields: [], sort }, 1, undefined);
  return record?.position ?? refuse('refers to a record that does not exist any more: start with the first page');
}

function refuse(message: string): never {
  const errors = new QueryErrors();
  errors.add('after', message);
  throw errors.exception;
}
