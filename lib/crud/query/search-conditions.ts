/** The conditions of a search, for TypeORM's query builder. */
import { randomBytes } from 'node:crypto';
import type { SelectQueryBuilder } from 'typeorm';
import type { Term } from './list-query.js';
import type { Resource } from '../resource/resource.js';
import { containing } from '../resource/text-search.js';

/** The alias of the resource's table in every statement. */
export const RECORD = 'record';

/** The prefix of every parameter's name. It is random, because the query builder replaces it in any name that contains it. */
export const PARAMETER = `declarest_${randomBytes(8).toString('hex')}_`;

export function addSearchConditions<T extends object>(
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
