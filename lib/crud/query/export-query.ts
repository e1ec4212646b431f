/** Reads the query string of `export`. */
import type { Field } from '../../entities/entity-schema.js';
import type { Condition, SortKey } from '../sql/condition.js';
import { checkDeleted, readParameters } from './parameters.js';
import { FilterReader } from './filter-parameter.js';
import { readFields } from './record-request.js';
import { conditionParameters, type ListParameters } from './list-query.js';
import type { ListQuery } from '../declare/envelope.js';
import { QueryErrors } from './query-errors.js';
import { readSort } from './sort-parameter.js';

const FORMATS = ['ndjson', 'csv'] as const;
export type ExportFormat = (typeof FORMATS)[number];

export interface ExportRequest {
  readonly format: ExportFormat;
  readonly condition: Condition;
  readonly sort: readonly SortKey[];
  readonly fields: readonly Field[];
}

/** @throws 400 naming every wrong parameter */
export function parseExportQuery(query: ListQuery, list: ListParameters): ExportRequest {
  const errors = new QueryErrors();
  const filter = new FilterReader(list.filterable, errors);
  const known = ['format', ...(list.sortable.size > 0 ? ['sort'] : []), ...conditionParameters(list), 'fields'];
  const parameters = readParameters(query, known, filter, errors);
  const format = FORMATS.find((each) => each === parameters.get('format'));
  if (!format) errors.add('format', `must be one of ${FORMATS.join(', ')}`);
  checkDeleted(parameters.get('deleted'), errors);
  const sort = readSort(parameters.get('sort'), list, errors);
  const columns = { readable: list.readable, linkable: [] };
  const { fields } = readFields('fields', parameters.get('fields'), columns, errors);
  errors.throwIfAny();
  return { format: format as ExportFormat, condition: filter.condition, sort, fields };
}
