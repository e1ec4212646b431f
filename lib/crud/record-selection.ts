/** Which records a search finds, in the words of TypeORM's query builder. */
import type { SelectQueryBuilder } from 'typeorm';
import type { Term } from './list-query.js';
import type { Resource } from './resource.js';
import { containing, containsExpression } from './text-search.js';

/** The alias of the resource's table in every statement. */
export const RECORD = 'record';

export function selectMatching<T extends object>(
  query: SelectQueryBuilder<T>,
  { searchable, database }: Resource<T>,
  terms: readonly Term[],
): SelectQueryBuilder<T> {
  const contains = containsExpression(database);
  for (const [index, { field, text }] of terms.entries()) {
    const parameter = `term${index}`;
    const fields = [...searchable].filter(([name]) => field === undefined || name === field).map(([, each]) => each);
    const found = fields.map(({ property }) => contains(`${RECORD}.${property}`, `:${parameter}`));
    query.andWhere(`(${found.join(' OR ')})`, { [parameter]: containing(text) });
  }
  return query;
}
