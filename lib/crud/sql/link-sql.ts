/** Writes the SQL of a relation between given records and the related ones. */
import type { DataSource } from 'typeorm';
import type { EntityKey } from '../../entities/entity-key.js';
import type { Field } from '../../entities/entity-schema.js';
import { boundValues, type Condition, type Relation, keyIsAmong } from './condition.js';
import { columnSql, conditionSql, joinsOf } from './condition-sql.js';
import { escapePath, comparable, dialectOf } from './dialect.js';

export interface LinkSelection {
  readonly relation: Relation;
  readonly owner: EntityKey<Field>;
  readonly keys: readonly unknown[];
  readonly related: EntityKey<Field>;
  readonly condition: Condition;
  /** At most so many for each owner. */
  readonly limit?: number | undefined;
  /** At most so many in all. */
  readonly most?: number | undefined;
}

/** The alias of the links in statements; its columns are those of `linkedColumns`, and `place`. */
export const LINKS = 'links';

/** A column of each field of a key: `owner`, `owner1`. */
export const linkedColumns = (side: 'owner' | 'related', { fields }: EntityKey<Field>) =>
  fields.map((field, place) => ({ field, name: `${side}${place || ''}` }));

const ownersOf = ({ owner, keys }: LinkSelection): Condition => keyIsAmong(owner, keys);

export const linkValues = (links: LinkSelection, dataSource: DataSource): unknown[] =>
  [ownersOf(links), links.condition].flatMap((each) => boundValues(each, dataSource));

/** A query in parentheses: one row for each pair of an owner and a related record. */
export function linkSql(links: LinkSelection, dataSource: DataSource): string {
  const { relation, owner, related, condition, limit } = links;
  const { driver } = dataSource;
  const [owners, others] = [driver.escape('owners'), driver.escape('others')];
  const columnOf = (table: string, field: Field): string => columnSql(table, field.column.databaseName, dataSource);
  const ownerKey = owner.fields.map((field) => columnOf(owners, field)).join(', ');
  const dialect = dialectOf(dataSource);
  const ordered = related.fields.map((field) => comparable(dialect, field, columnOf(others, field)).ordered);
  const place = `, ROW_NUMBER() OVER (PARTITION BY ${ownerKey} ORDER BY ${ordered.join(', ')}) AS ${driver.escape('place')}`;
  const selected = (side: 'owner' | 'related', table: string): string[] =>
    linkedColumns(side, links[side]).map(({ field, name }) => `${columnOf(table, field)} AS ${driver.escape(name)}`);
  const columns = [...selected('owner', owners), ...selected('related', others)].join(', ');
  const aliases = { owner: owners, link: driver.escape('junction'), related: others };
  const joins = joinsOf(relation, aliases, dataSource).map(({ table, on }) => ` INNER JOIN ${table} ON ${on}`);
  const tables = `${escapePath(relation.entityMetadata.tablePath, driver)} ${owners}${joins.join('')}`;
  const first = boundValues(ownersOf(links), dataSource).length;
  const ofOwners = conditionSql(ownersOf(links), owners, dataSource);
  const matching = conditionSql(condition, others, dataSource, first);
  return `(SELECT ${columns}${limit === undefined ? '' : place} FROM ${tables} WHERE ${ofOwners} AND ${matching})`;
}

/** How statements join the links with the table of the related records. */
export function linkCondition({ related, limit }: LinkSelection, record: string, dataSource: DataSource): string {
  const links = dataSource.driver.escape(LINKS);
  const column = (owner: string, name: string): string => columnSql(owner, name, dataSource);
  const joined = linkedColumns('related', related)
    .map(({ field, name }) => `${column(links, name)} = ${column(record, field.column.databaseName)}`)
    .join(' AND ');
  return limit === undefined ? joined : `${joined} AND ${column(links, 'place')} <= ${limit}`;
}
