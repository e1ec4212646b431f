/** Writes the SQL of a relation between given records and the related ones. */
import type { DataSource } from 'typeorm';
import type { Field } from '../../entities/entity-schema.js';
import { compare, type Condition, type Relation } from './condition.js';
import { boundValues, conditionSql, joinedColumns } from './condition-sql.js';
import { escapePath, comparable, dialectOf } from './dialect.js';

/** The related records of given owners. */
export interface LinkSelection {
  readonly relation: Relation;
  /** The key of the owners. */
  readonly owner: Field;
  readonly keys: readonly unknown[];
  /** The key of the related records. */
  readonly related: Field;
  /** On the related records. */
  readonly condition: Condition;
  /** At most so many for each owner. */
  readonly limit?: number;
}

/** The alias of the links in statements; its columns are `owner`, `related` and `place`. */
export const LINKS = 'links';

const ownersOf = ({ owner, keys }: LinkSelection): Condition => compare(owner, 'in', ...keys);

export const linkValues = (links: LinkSelection, dataSource: DataSource): unknown[] =>
  [ownersOf(links), links.condition].flatMap((each) => boundValues(each, dataSource));

/** A query in parentheses: one row for each pair of an owner and a related record. */
export function linkSql(links: LinkSelection, dataSource: DataSource): string {
  const { relation, owner, related, condition, limit } = links;
  const escape = (name: string): string => dataSource.driver.escape(name);
  const owners = escape('owners');
  const others = escape('others');
  const ownerKey = `${owners}.${escape(owner.column.databaseName)}`;
  const relatedKey = `${others}.${escape(related.column.databaseName)}`;
  const { ordered } = comparable(dialectOf(dataSource), related, relatedKey);
  const place = `, ROW_NUMBER() OVER (PARTITION BY ${ownerKey} ORDER BY ${ordered}) AS ${escape('place')}`;
  const columns = `${ownerKey} AS ${escape('owner')}, ${relatedKey} AS ${escape('related')}`;
  const first = boundValues(ownersOf(links), dataSource).length;
  const conditions = [
    conditionSql(ownersOf(links), owners, dataSource),
    conditionSql(condition, others, dataSource, first),
  ];
  return (
    `(SELECT ${columns}${limit === undefined ? '' : place} FROM ${tablesOf(relation, owners, others, dataSource)} ` +
    `WHERE ${conditions.join(' AND ')})`
  );
}

/** How statements join the links with the table of the related records. */
export function linkCondition({ related, limit }: LinkSelection, record: string, dataSource: DataSource): string {
  const { driver } = dataSource;
  const column = (name: string): string => `${driver.escape(LINKS)}.${driver.escape(name)}`;
  const joined = `${column('related')} = ${record}.${driver.escape(related.column.databaseName)}`;
  return limit === undefined ? joined : `${joined} AND ${column('place')} <= ${limit}`;
}

function tablesOf(relation: Relation, owners: string, others: string, dataSource: DataSource): string {
  const { entityMetadata, inverseEntityMetadata, junctionEntityMetadata: junction, isOwning } = relation;
  const escape = (name: string): string => dataSource.driver.escape(name);
  const own = `${escapePath(entityMetadata.tablePath, dataSource.driver)} ${owners}`;
  const related = `${escapePath(inverseEntityMetadata.tablePath, dataSource.driver)} ${others}`;
  if (!junction) {
    const pairs = joinedColumns(relation).map(
      ([mine, theirs]) => `${others}.${escape(theirs)} = ${owners}.${escape(mine)}`,
    );
    return `${own} INNER JOIN ${related} ON ${pairs.join(' AND ')}`;
  }
  const link = escape('junction');
  const { ownerColumns, inverseColumns } = junction;
  const joins = (table: string, columns: typeof ownerColumns): string =>
    columns
      .map(({ databaseName, referencedColumn }) => {
        const referenced = `${table}.${escape(referencedColumn?.databaseName ?? '')}`;
        return `${link}.${escape(databaseName)} = ${referenced}`;
      })
      .join(' AND ');
  const [mine, theirs] = isOwning ? [ownerColumns, inverseColumns] : [inverseColumns, ownerColumns];
  return (
    `${own} INNER JOIN ${escapePath(junction.tablePath, dataSource.driver)} ${link} ON ${joins(owners, mine)} ` +
    `INNER JOIN ${related} ON ${joins(others, theirs)}`
  );
}
