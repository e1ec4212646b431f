/** Reads the query strings of `count` and `aggregate`. */
import type { Field } from '../../entities/entity-schema.js';
import type { Comparison } from '../../entities/value-types.js';
import type { Condition } from '../sql/condition.js';
import { FilterReader } from './filter-parameter.js';
import { checkDeleted, readParameters } from './parameters.js';
import { conditionParameters, type ListParameters } from './list-query.js';
import type { ListQuery } from '../declare/envelope.js';
import { QueryErrors } from './query-errors.js';

const NUMBERS: readonly Comparison[] = ['number', 'exact number'];
const ORDERED: readonly Comparison[] = [...NUMBERS, 'text', 'label', 'moment', 'calendar', 'uuid'];
const ANY: readonly Comparison[] = [...ORDERED, 'boolean'];

/** Which columns each parameter takes. */
const TAKES = { sum: NUMBERS, avg: NUMBERS, min: ORDERED, max: ORDERED, groupBy: ANY };
const PARAMETERS = Object.keys(TAKES) as (keyof typeof TAKES)[];

/** The fields that each parameter names. */
export type Aggregation = Readonly<Record<keyof typeof TAKES, readonly Field[]>>;

/** @throws 400 naming every wrong parameter */
export function parseCountQuery(query: ListQuery, list: ListParameters): Condition {
  const errors = new QueryErrors();
  const filter = new FilterReader(list.filterable, errors);
  const parameters = readParameters(query, conditionParameters(list), filter, errors);
  checkDeleted(parameters.get('deleted'), errors);
  errors.throwIfAny();
  return filter.condition;
}

/**
 * @param aggregatable the fields that the resource declares
 * @throws 400 naming every wrong parameter
 */
export function parseAggregateQuery(
  query: ListQuery,
  list: ListParameters,
  aggregatable: readonly Field[],
): { readonly condition: Condition; readonly aggregation: Aggregation } {
  const errors = new QueryErrors();
  const filter = new FilterReader(list.filterable, errors);
  const known = [...PARAMETERS, ...conditionParameters(list)];
  const parameters = readParameters(query, known, filter, errors);
  checkDeleted(parameters.get('deleted'), errors);
  const candidates = aggregatable.filter((field) => list.readable.includes(field));
  const read = (name: keyof typeof TAKES): readonly Field[] =>
    readNames(name, parameters.get(name), candidates, errors);
  const aggregation = {
    sum: read('sum'),
    avg: read('avg'),
    min: read('min'),
    max: read('max'),
    groupBy: read('groupBy'),
  };
  errors.throwIfAny();
  return { condition: filter.condition, aggregation };
}

function readNames(
  parameter: keyof typeof TAKES,
  text: string | undefined,
  candidates: readonly Field[],
  errors: QueryErrors,
): readonly Field[] {
  if (text === undefined) return [];
  if (text === '') errors.add(parameter, 'must name at least one field');
  const fields = candidates.filter(({ type }) => type.comparison && TAKES[parameter].includes(type.comparison));
  const named: Field[] = [];
  for (const name of text === '' ? [] : text.split(',')) {
    const field = fields.find((each) => each.name === name);
    if (!field)
      errors.addUnknown(
        parameter,
        'field',
        fields.map((each) => each.name),
        name,
      );
    else if (named.includes(field)) errors.add(parameter, `must name ${name} once`);
    else named.push(field);
  }
  return named;
}
