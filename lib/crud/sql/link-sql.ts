/** Writes the SQL of a relation between given records and the related ones. */
import type { DataSource } from 'typeorm';
import type { Field } from '../../entities/entity-schema.js';
import { compare, type Condition, type Relation } from './condition.js';
import { boundValues, columnSql, conditionSql, joinsOf } from './condition-sql.js';
import { escapePath, comparable, dialectOf } from './dialect.js';

export interface LinkSelection {
  readonly relation: Relation;
  readonly owner: Field;
  readonly keys: readonly unknown[];
  readonly related: Field;
  readonly condition: Condition;
  /** At most so many for each owner. */
  readonly limit?: number | undefined;
  /** At most so many in all. */
  readonly most?: number | undefined;
}

/** The alias of the links in statements; its columns are `owner`, `related` and `place`. */
export const LINKS = 'links';

const ownersOf = ({ owner, keys }: LinkSelection): Condition => compare(owner, 'in', ...keys);

export const linkValues = (links: LinkSelection, dataSource: DataSource): unknown[] =>
  [ownersOf(links), links.condition].flatMap((each) => boundValues(each, dataSource));

/** A query in parentheses: one row for each pair of an owner and a related record. */
export function linkSql(links: LinkSelection, dataSource: DataSource): string {
  const { relation, owner, related, condition, limit } = links;
  const { driver } = dataSource;
  const [owners, others] = [driver.escape('owners'), driver.escape('others')];
  const ownerKey = columnSql(owners, owner.column.databaseName, dataSource);
  const relatedKey = columnSql(others, related.column.databaseName, dataSource);
  const { ordered } = comparable(dialectOf(dataSource), related, relatedKey);
  const place = `, ROW_NUMBER() OVER (PARTITION BY ${ownerKey} ORDER BY ${ordered}) AS ${driver.escape('place')}`;
  const columns = `${ownerKey} AS ${driver.escape('owner')}, ${relatedKey} AS ${driver.escape('related')}`;
  const aliases = { owner: owners, link: driver.escape('junction'), related: others };
  const joins = joinsOf(relation, aliases, dataSource).map(({ table, on }) => ` INNER JOIN ${table} ON ${on}`);
  const tables = `${escapePath(relation.entityMetadata.tablePath, driver)} ${owners}${joins.join('')}`;
  const first = boundValues(ownersOf(links), dataSource).length;
  const conditions = [
    conditionSql(ownersOf(links), owners, dataSource),
    conditionSql(condition, others, dataSource, first),
  ];
  return `(SELECT ${columns}${limit === undefined ? '' : place} FROM ${tables} WHERE ${conditions.join(' AND ')})`;
}

/** How statements join the links with the table of the related records. */
export function linkCondition({ related, limit }: LinkSelection, record: string, dataSource: DataSource): string {
  const links = dataSource.driver.escape(LINKS);
  const key = columnSql(record, related.column.databaseName, dataSource);
  const joined = `${columnSql(links, 'related', dataSource)} = ${key}`;
  return limit === undefined ? joined : `${joined} AND ${columnSql(links, 'place', dataSource)} <= ${limit}`;
}
