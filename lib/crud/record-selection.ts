/** Which records a search finds, in the words of TypeORM's query builder. */
import { randomBytes } from 'node:crypto';
import type { SelectQueryBuilder } from 'typeorm';
import type { Term } from './list-query.js';
import type { Resource } from './resource.js';
import { containing } from './text-search.js';

/** The alias of the resource's table in every statement. */
export const RECORD = 'record';

/** Begins the name of every parameter. The query builder puts a value wherever it finds one: in no table's or column's name. */
export const PARAMETER = `declarest_${randomBytes(8).toString('hex')}_`;

export function selectMatching<T extends object>(
  query: SelectQueryBuilder<T>,
  { searchable, contains }: Resource<T>,
  terms: readonly Term[],
): SelectQueryBuilder<T> {
  for (const [index, { field, text }] of terms.entries()) {
    const parameter = `${PARAMETER}${index}`;
    const fields = [...searchable].filter(([name]) => field === undefined || name === field).map(([, each]) => each);
    const found = fields.map(({ column }) =>
      contains(`${query.escape(RECORD)}.${query.escape(column.databaseName)}`, `:${parameter}`),
    );
    query.andWhere(`(${found.join(' OR ')})`, { [parameter]: containing(text) });
  }
  return query;
}
