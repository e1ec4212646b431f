/** Translates the filters and sorters of refine to query parameters. */
import type { CrudFilter, CrudOperators, CrudSort, LogicalFilter } from '@refinedev/core';
import { Failure, joinLists } from 'declarest-client/providers';

type Operator = LogicalFilter['operator'];

interface Translation {
  readonly operator: string;
  /** Whether the condition is negated, by a group of its own. */
  readonly isNegated?: true;
  readonly takes: 'one' | 'text' | 'list' | 'two' | 'nothing';
  /** What `isNull` is sent with. */
  readonly value?: string;
}

const TRANSLATIONS: Partial<Record<CrudOperators, Translation>> = {
  eq: { operator: 'eq', takes: 'one' },
  eqs: { operator: 'eq', takes: 'one' },
  ne: { operator: 'ne', takes: 'one' },
  nes: { operator: 'ne', takes: 'one' },
  lt: { operator: 'lt', takes: 'one' },
  lte: { operator: 'lte', takes: 'one' },
  gt: { operator: 'gt', takes: 'one' },
  gte: { operator: 'gte', takes: 'one' },
  in: { operator: 'in', takes: 'list' },
  nin: { operator: 'nin', takes: 'list' },
  contains: { operator: 'icontains', takes: 'text' },
  ncontains: { operator: 'icontains', isNegated: true, takes: 'text' },
  containss: { operator: 'contains', takes: 'text' },
  ncontainss: { operator: 'contains', isNegated: true, takes: 'text' },
  startswiths: { operator: 'startsWith', takes: 'text' },
  nstartswiths: { operator: 'startsWith', isNegated: true, takes: 'text' },
  endswiths: { operator: 'endsWith', takes: 'text' },
  nendswiths: { operator: 'endsWith', isNegated: true, takes: 'text' },
  between: { operator: 'between', takes: 'two' },
  nbetween: { operator: 'between', isNegated: true, takes: 'two' },
  null: { operator: 'isNull', takes: 'nothing', value: 'true' },
  nnull: { operator: 'isNull', takes: 'nothing', value: 'false' },
};

/** Instead of operators that the server cannot express exactly. */
const ALTERNATIVES: Partial<Record<CrudOperators, string>> = {
  startswith: 'Use "startswiths", which compares the case',
  nstartswith: 'Use "nstartswiths", which compares the case',
  endswith: 'Use "endswiths", which compares the case',
  nendswith: 'Use "nendswiths", which compares the case',
  ina: 'Use "in" on a column of the related records, such as tags.id',
  nina: 'Use "nin", or an override of the list on the server',
};

/** @param resource for messages */
export function addFilters(query: URLSearchParams, filters: readonly CrudFilter[], resource: string): URLSearchParams {
  addConjunction(query, 'filter', filters, resource);
  return query;
}

export function addSorters(query: URLSearchParams, sorters: readonly CrudSort[] = []): URLSearchParams {
  const keys = sorters.map(({ field, order }) => (order === 'desc' ? `-${field}` : field));
  if (keys.length > 0) query.set('sort', keys.join(','));
  return query;
}

/**
 * Conditions that all hold, below a group such as `filter[or][0]`. The members of `or` in one group are alternatives of each
 * other, and the conditions of `not` are negated together, so each further `or` and each `not` gets a member of `and`.
 */
function addConjunction(query: URLSearchParams, group: string, filters: readonly CrudFilter[], resource: string): void {
  let members = 0;
  let hasAlternatives = false;
  const newMember = (): string => `${group}[and][${members++}]`;
  for (const filter of filters.flatMap(simplify)) {
    if ('field' in filter) {
      const { operator, isNegated, values } = translate(filter, resource);
      const name = `[${filter.field}][${operator}]`;
      const direct = isNegated ? `${newMember()}[not]${name}` : `${group}${name}`;
      const parameter = query.has(direct) ? `${newMember()}${name}` : direct;
      for (const value of values) query.append(parameter, value);
    } else {
      const place = hasAlternatives ? newMember() : group;
      hasAlternatives = true;
      for (const [index, alternative] of filter.value.entries())
        addConjunction(query, `${place}[or][${index}]`, [alternative], resource);
    }
  }
}

/** Removes filters without a value, and groups that change nothing: the server takes 3 groups inside each other. */
function simplify(filter: CrudFilter): CrudFilter[] {
  if ('field' in filter) return isEmpty(filter) ? [] : [filter];
  const members = filter.value.flatMap((each) =>
    filter.operator === 'or' ? simplifyAlternative(each) : simplify(each),
  );
  if (filter.operator === 'and') return members;
  return members.length < 2 ? members.flatMap(simplify) : [{ operator: 'or', value: members }];
}

/** `or` inside `or` is one of several alternatives. */
function simplifyAlternative(filter: CrudFilter): CrudFilter[] {
  const conditions = simplify(filter);
  const [first] = conditions;
  if (conditions.length > 1) return [{ operator: 'and', value: conditions }];
  return first && !('field' in first) ? first.value : conditions;
}

/** As refine itself, which sends no filter whose value was cleared. */
function isEmpty({ operator, value }: LogicalFilter): boolean {
  const takes = TRANSLATIONS[operator]?.takes;
  return takes !== 'nothing' && (value === undefined || value === null || (takes === 'text' && value === ''));
}

function translate(
  { field, operator, value }: LogicalFilter,
  resource: string,
): Translation & { readonly values: readonly string[] } {
  const translation = TRANSLATIONS[operator];
  if (!translation) throw refusal(operator, resource);
  if (translation.value !== undefined) return { ...translation, values: [translation.value] };
  const { takes } = translation;
  const isList = takes === 'list' || takes === 'two';
  const values = [value as unknown].flat();
  const expected = { list: 'an array of values', two: 'an array of two values', one: 'one value', text: 'one text' };
  const isValid = isList
    ? Array.isArray(value) && (takes === 'two' ? values.length === 2 : values.length > 0)
    : !Array.isArray(value);
  const texts = values.map(textOf);
  if (!isValid || !texts.every((each) => each !== undefined))
    throw new Failure(
      `The filter "${operator}" on "${field}" of "${resource}" must have ${expected[takes as keyof typeof expected]}, got ${JSON.stringify(value)}. Leave the filter out where there is none.`,
      400,
    );
  return { ...translation, values: isList ? joinLists(texts) : [texts[0] ?? ''] };
}

function refusal(operator: Operator, resource: string): Error {
  const advice = ALTERNATIVES[operator] ?? `Use one of ${Object.keys(TRANSLATIONS).join(', ')}, or, and`;
  return new Failure(
    `The filter operator "${operator}" on "${resource}" has no equivalent on the server. ${advice}.`,
    400,
  );
}

/** Dates, also those of date libraries, become ISO 8601. `undefined` for what is no single value. */
function textOf(value: unknown): string | undefined {
  const plain = hasToJson(value) ? value.toJSON() : value;
  return plain === undefined || plain === null || typeof plain === 'object' ? undefined : String(plain);
}

const hasToJson = (value: unknown): value is { toJSON(): unknown } =>
  typeof value === 'object' && value !== null && 'toJSON' in value && typeof value.toJSON === 'function';
