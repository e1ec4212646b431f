/** Reads the query string of a list or a search. Pure; reports every wrong parameter. */
import type { Field } from '../../entities/entity-schema.js';
import type { ListQuery } from '../declare/envelope.js';
import type { FieldPath } from './field-path.js';
import { and, compare, or, type Condition, type SortKey } from '../sql/condition.js';
import { checkDeleted, readFlag, readParameters } from './parameters.js';
import { FilterReader } from './filter-parameter.js';
import { pageParameterNames, readPageRequest, type PageRequest } from './page-parameters.js';
import type { Paging } from '../declare/list-options.js';
import { QueryErrors } from './query-errors.js';
import {
  recordParameterNames,
  readRecordRequest,
  type RecordParameters,
  type RecordRequest,
} from './record-request.js';
import { readSort } from './sort-parameter.js';

/** What a query string asks for. */
export interface ListRequest extends RecordRequest, PageRequest {
  readonly condition: Condition;
  /** Ends with the primary key. */
  readonly sort: readonly SortKey[];
}

/** What the query strings of a resource may ask for. */
export interface ListParameters extends RecordParameters {
  readonly id: Field;
  readonly paged: Paging;
  /** By the name under which each is searched, filtered and sorted. */
  readonly searchable: ReadonlyMap<string, Field>;
  readonly filterable: ReadonlyMap<string, FieldPath>;
  readonly sortable: ReadonlyMap<string, Field>;
  readonly defaultSort: readonly SortKey[];
  /** Whether `deleted` may be sent. */
  readonly choosesDeleted: boolean;
  /** SQLite's table of the search index. */
  readonly searchTable?: string;
}

/** In code points: matching a long term against long texts takes seconds. */
const MAX_TERM = 100;
const ANY_FIELD = 'q';

/** The parameters that choose records. */
export const conditionParameters = (list: Pick<ListParameters, 'filterable' | 'choosesDeleted'>): string[] => [
  ...(list.filterable.size > 0 ? ['filter'] : []),
  ...(list.choosesDeleted ? ['deleted'] : []),
];

/** The parameters that the lists of a resource know, with those that a search adds. */
export function parameterNames(
  list: Pick<ListParameters, 'paged' | 'sortable' | 'filterable' | 'choosesDeleted' | 'includable'>,
): string[] {
  return [
    ...pageParameterNames(list.paged),
    ...(list.sortable.size > 0 ? ['sort'] : []),
    ...conditionParameters(list),
    ...recordParameterNames(list),
  ];
}

/**
 * @param operation a search has terms, a list has none
 * @throws 400 naming every wrong parameter, or where a search has none
 */
export function parseListQuery(query: ListQuery, list: ListParameters, operation: 'findAll' | 'search'): ListRequest {
  const errors = new QueryErrors();
  const searchable = operation === 'search' ? list.searchable : new Map<string, Field>();
  const searched = searchable.size > 0 ? [...new Set([...searchable.keys(), ANY_FIELD])] : [];
  const filter = new FilterReader(list.filterable, errors);
  const known = [...searched, ...parameterNames(list)];
  const parameters = readParameters(query, known, filter, errors);
  const terms = searched.flatMap((name) => {
    const text = parameters.get(name);
    if (text === undefined) return [];
    checkTerm(name, text, errors);
    const field = searchable.get(name);
    const fields = field ? [field] : [...searchable.values()];
    return [...indexed(text, list), or(...fields.map((each) => compare(each, 'icontains', text)))];
  });
  if (operation === 'search' && terms.length === 0 && errors.isEmpty)
    errors.add(ANY_FIELD, `is missing: send at least one of ${searched.join(', ')}`);
  checkDeleted(parameters.get('deleted'), errors);
  const sort = readSort(parameters.get('sort'), list, errors);
  const request = readRecordRequest(parameters, list, errors);
  const page = readPageRequest(list.paged, parameters, errors);
  errors.throwIfAny();
  return { condition: and(...terms, filter.condition), sort, ...request, ...page };
}

/** Whether a DELETE removes the row of a record that it would hide. @throws 400 */
export function parseDeleteQuery(query: ListQuery, mayPurge: boolean): boolean {
  const errors = new QueryErrors();
  const purges = readFlag('purge', false, readParameters(query, mayPurge ? ['purge'] : [], undefined, errors), errors);
  errors.throwIfAny();
  return purges;
}

function checkTerm(name: string, text: string, errors: QueryErrors): void {
  if (text === '') errors.add(name, 'must be a text to search for, got an empty one');
  // SQLite's LIKE reads no further than NUL, and PostgreSQL has no text with it.
  if (text.includes('\0')) errors.add(name, 'must be a text without the character NUL');
  const { length } = [...text];
  if (length > MAX_TERM) errors.add(name, `must be at most ${MAX_TERM} characters long, got ${length}`);
}

/** Finds more than the comparisons do, but finds it in an index, which has parts of three characters. */
const indexed = (text: string, { searchTable: table, id: key }: ListParameters): Condition[] =>
  table !== undefined && [...text].length >= 3 ? [{ kind: 'indexed', table, key, text }] : [];
