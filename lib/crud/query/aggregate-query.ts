/** Reads the query string of `aggregate`. */
import type { Field } from '../../entities/entity-schema.js';
import type { ColumnKind } from '../../entities/value-types.js';
import type { ListQuery } from '../declare/envelope.js';
import { conditionParameters, type ListParameters } from './list-query.js';
import { QueryParameters } from './parameters.js';

const NUMBERS: readonly ColumnKind[] = ['number', 'exact number'];
const ORDERED: readonly ColumnKind[] = [...NUMBERS, 'text', 'label', 'moment', 'calendar', 'uuid'];
const ANY: readonly ColumnKind[] = [...ORDERED, 'boolean'];

export const TAKES = { sum: NUMBERS, avg: NUMBERS, min: ORDERED, max: ORDERED, groupBy: ANY };
const LISTS = Object.keys(TAKES);

export type Aggregation = Readonly<Record<keyof typeof TAKES, readonly Field[]>>;

/** @param aggregatable the fields that the resource declares @throws 400 naming every wrong parameter */
export function parseAggregateQuery(query: ListQuery, list: ListParameters, aggregatable: readonly Field[]) {
  const parameters = new QueryParameters(query, [...LISTS, ...conditionParameters(list)], LISTS, list.filterable);
  parameters.checkDeleted();
  const candidates = aggregatable.filter((field) => list.readable.includes(field));
  const aggregation = Object.fromEntries(
    Object.entries(TAKES).map(([name, taken]) => [name, readFieldNames(name, taken, candidates, parameters)]),
  ) as Aggregation;
  parameters.throwIfAny();
  return { condition: parameters.condition, aggregation };
}

function readFieldNames(
  parameter: string,
  taken: readonly ColumnKind[],
  candidates: readonly Field[],
  parameters: QueryParameters,
): readonly Field[] {
  const text = parameters.get(parameter);
  if (text === undefined) return [];
  const fields = candidates.filter(({ type }) => type.comparison && taken.includes(type.comparison));
  const byName = new Map(fields.map((field) => [field.name, field]));
  const names = parameters.namesIn(parameter, text);
  return parameters.fieldsOf(parameter, names, byName).filter((field) => field !== undefined);
}
