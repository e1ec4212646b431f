/** Reads the query strings of lists, searches, counts and exports. Pure; reports every wrong parameter. */
import { isOrdered } from '../../entities/value-types.js';
import type { EntityKey } from '../../entities/entity-key.js';
import type { Field } from '../../entities/entity-schema.js';
import type { ListQuery } from '../declare/envelope.js';
import { and, ascending, compare, or, type Condition, type SortKey } from '../sql/condition.js';
import type { FilterableField } from './field-path.js';
import { pageParameterNames, readPageRequest, type PageParameters, type PageRequest } from './page-parameters.js';
import { QueryParameters, READ_LISTS } from './parameters.js';
import type { QueryErrors } from './query-errors.js';
import { readFields, readRecordRequest, recordParameterNames } from './record-request.js';
import type { RecordParameters, RecordRequest } from './record-request.js';

export interface ListRequest extends RecordRequest, PageRequest {
  readonly condition: Condition;
  /** Ends with the primary key. */
  readonly sort: readonly SortKey[];
}

export interface ListParameters extends RecordParameters, PageParameters {
  readonly key: EntityKey<Field>;
  /** Fields by the name under which each is searched, filtered and sorted. */
  readonly searchable: ReadonlyMap<string, Field>;
  readonly filterable: ReadonlyMap<string, FilterableField>;
  readonly sortable: ReadonlyMap<string, Field>;
  readonly defaultSort: readonly SortKey[];
  readonly choosesDeleted: boolean;
  /** SQLite's table of the search index. */
  readonly searchTable?: string;
}

/** The limit in code points. Matching a long term against long texts takes seconds. */
export const MAX_TERM = 100;
export const MAX_SORT_KEYS = 8;
export const ANY_FIELD = 'q';
const NO_FIELDS: ReadonlyMap<string, Field> = new Map();

type Choices = Pick<ListParameters, 'paged' | 'sortable' | 'filterable' | 'choosesDeleted' | 'includable'>;

export const conditionParameters = (list: Choices): string[] => [
  ...(list.filterable.size > 0 ? ['filter'] : []),
  ...(list.choosesDeleted ? ['deleted'] : []),
];

const selectionParameters = (list: Choices): string[] => [
  ...(list.sortable.size > 0 ? ['sort'] : []),
  ...conditionParameters(list),
];

/** The parameters that the lists of a resource know. A search adds the names of its fields. */
export const parameterNames = (list: Choices): string[] => [
  ...pageParameterNames(list.paged),
  ...selectionParameters(list),
  ...recordParameterNames(list),
];

/** @param operation a search has terms @throws 400 naming every wrong parameter, or for a search without terms */
export function parseListQuery(query: ListQuery, list: ListParameters, operation: 'findAll' | 'search'): ListRequest {
  const searchable = operation === 'search' ? list.searchable : NO_FIELDS;
  const searched = searchable.size > 0 ? [...new Set([...searchable.keys(), ANY_FIELD])] : [];
  const parameters = new QueryParameters(query, [...searched, ...parameterNames(list)], READ_LISTS, list.filterable);
  const terms = searched.flatMap((name) => {
    const text = parameters.get(name);
    if (text === undefined) return [];
    checkTerm(name, text, parameters);
    const field = searchable.get(name);
    const fields = field ? [field] : [...searchable.values()];
    return [...indexed(text, list), or(...fields.map((each) => compare(each, 'icontains', text)))];
  });
  if (operation === 'search' && terms.length === 0 && parameters.isEmpty)
    parameters.add(ANY_FIELD, `is missing: send at least one of ${searched.join(', ')}`);
  parameters.checkDeleted();
  const sort = readSort(parameters, list);
  const request = readRecordRequest(parameters, list);
  const page = readPageRequest(list, parameters);
  parameters.throwIfAny();
  return { condition: and(...terms, parameters.condition), sort, ...request, ...page };
}

/** @throws 400 naming every wrong parameter */
export function parseCountQuery(query: ListQuery, list: ListParameters): Condition {
  const parameters = new QueryParameters(query, conditionParameters(list), [], list.filterable);
  parameters.checkDeleted();
  parameters.throwIfAny();
  return parameters.condition;
}

export const FORMATS = ['ndjson', 'csv'] as const;
export type ExportFormat = (typeof FORMATS)[number];

/** @throws 400 naming every wrong parameter */
export function parseExportQuery(query: ListQuery, list: ListParameters) {
  const known = ['format', ...selectionParameters(list), 'fields'];
  const parameters = new QueryParameters(query, known, READ_LISTS, list.filterable);
  const format = FORMATS.find((each) => each === parameters.get('format')) as ExportFormat;
  if (!format) parameters.add('format', `must be one of ${FORMATS.join(', ')}`);
  parameters.checkDeleted();
  const sort = readSort(parameters, list);
  const columns = readFields('fields', list, parameters);
  parameters.throwIfAny();
  return { format, condition: parameters.condition, sort, request: { ...columns, includes: [] } };
}

/** Whether a DELETE removes the row of a record that it would hide. @throws 400 */
export function parseDeleteQuery(query: ListQuery, mayPurge: boolean): boolean {
  const parameters = new QueryParameters(query, mayPurge ? ['purge'] : []);
  const purges = parameters.flag('purge', false);
  parameters.throwIfAny();
  return purges;
}

/** The primary key comes last, so that the order is the same for each request. */
function readSort(parameters: QueryParameters, { key, sortable, defaultSort, readable }: ListParameters) {
  const text = parameters.get('sort');
  // The order, and cursors, would reveal a column that the caller may not read.
  const readableDefault = defaultSort.filter(({ field }) => readable.includes(field));
  const keys = text === undefined ? readableDefault : parseSort(text, sortable, parameters);
  // A view may have no key.
  const unique = key.fields.length > 0 ? key.fields : readable.filter(({ type }) => isOrdered(type));
  const ties = unique.filter((each) => !keys.some(({ field }) => field === each));
  return [...keys, ...ascending(ties)];
}

export function parseSort(text: string, sortable: ReadonlyMap<string, Field>, errors: QueryErrors): SortKey[] {
  const names = errors.namesIn('sort', text);
  if (names.length > MAX_SORT_KEYS)
    errors.add('sort', `must name at most ${MAX_SORT_KEYS} fields, got ${names.length}`);
  const signed = names.slice(0, MAX_SORT_KEYS);
  const unsigned = signed.map((name) => name.replace(/^-/, ''));
  return errors
    .fieldsOf('sort', unsigned, sortable)
    .flatMap((field, index) => (field ? [{ field, descending: signed[index] !== unsigned[index] }] : []));
}

function checkTerm(name: string, text: string, errors: QueryErrors): void {
  if (text === '') errors.add(name, 'must be a text to search for, got an empty one');
  // SQLite's LIKE reads no further than NUL, and PostgreSQL has no text with it.
  if (text.includes('\0')) errors.add(name, 'must be a text without the character NUL');
  const { length } = [...text];
  if (length > MAX_TERM) errors.add(name, `must be at most ${MAX_TERM} characters long, got ${length}`);
}

/** The index finds more than the comparisons do, but quickly. It has parts of three characters. */
const indexed = (text: string, { searchTable: table, key: { fields } }: ListParameters): Condition[] => {
  const [key] = fields;
  return key && table !== undefined && [...text].length >= 3 ? [{ kind: 'indexed', table, key, text }] : [];
};
