/** Reads the rows of statements that join related records with the keys of their owners. */
import type { DataSource, ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import type { EntityKey } from '../../entities/entity-key.js';
import type { Field } from '../../entities/entity-schema.js';
import { RECORD } from '../sql/condition-sql.js';
import { LINKS, linkCondition, linkedColumns, linkSql, type LinkSelection } from '../sql/link-sql.js';
import type { RawRow } from '../sql/statement.js';
import { asRead } from './row-projection.js';

const aliasOf = (name: string): string => `link_${name}`;

/** Joins the links with the related records, and selects both keys. */
export function joinLinks(
  query: SelectQueryBuilder<object>,
  links: LinkSelection,
  parameters: ObjectLiteral,
  dataSource: DataSource,
): SelectQueryBuilder<object> {
  const on = linkCondition(links, query.escape(RECORD), dataSource);
  const column = (name: string): string => `${query.escape(LINKS)}.${query.escape(name)}`;
  query.withDeleted().innerJoin(linkSql(links, dataSource), LINKS, on, parameters).limit(links.most);
  for (const { field, name } of [...linkedColumns('owner', links.owner), ...linkedColumns('related', links.related)])
    query.addSelect(asRead(field, column(name)), aliasOf(name));
  return query;
}

export function linkedKeys(links: LinkSelection, { driver }: DataSource) {
  const keyOf = (side: 'owner' | 'related') => {
    const columns = linkedColumns(side, links[side]).map(({ field, name }) => ({ ...field, alias: aliasOf(name) }));
    return (row: RawRow): unknown =>
      links[side].join(
        columns.map(({ alias, textRead, column, type }) =>
          type.write(textRead ? textRead.read(row[alias]) : driver.prepareHydratedValue(row[alias], column)),
        ),
      );
  };
  return { owner: keyOf('owner'), related: keyOf('related') };
}

/** Equal for equal keys, whatever type they have. */
export const identityOf = (key: unknown): string => JSON.stringify(key);

/** A key that clients see, as the entity holds it. */
export function toEntityKey(key: unknown, { read }: EntityKey): unknown {
  const reading = read(key);
  return 'value' in reading ? reading.value : key;
}

/** Fewer sizes make fewer statements. */
const SIZES = [1, 5, 20, 100, 300, 1_000, 3_000, 10_000];
const MAX_SIZE = 10_000;
/** SQLite's expressions are at most 1,000 deep, and a key of several columns is an alternative. */
const MAX_ALTERNATIVES = 300;

/**
 * Keys that clients see, as the entity holds them, in lists for statements. A list is filled up with its last key, so
 * that there are few statements.
 */
export function chunksOf(keys: ReadonlySet<unknown>, key: EntityKey<Field>): unknown[][] {
  const held = [...keys].map((each) => toEntityKey(each, key));
  const most = key.fields.length === 1 ? MAX_SIZE : MAX_ALTERNATIVES;
  const chunks: unknown[][] = [];
  for (let start = 0; start < held.length; start += most) {
    const chunk = held.slice(start, start + most);
    const size = SIZES.find((each) => each >= chunk.length) ?? most;
    chunks.push([...chunk, ...Array.from({ length: size - chunk.length }, () => chunk.at(-1))]);
  }
  return chunks;
}
