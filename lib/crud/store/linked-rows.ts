/** Reads the rows of statements that join related records with the keys of their owners. */
import type { DataSource, ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import type { Field } from '../../entities/entity-schema.js';
import { RECORD } from '../sql/condition-sql.js';
import { LINKS, linkCondition, linkSql, type LinkSelection } from '../sql/link-sql.js';
import type { RawRow } from '../sql/statement.js';
import { asRead } from './row-projection.js';

const OWNER = 'link_owner';
const RELATED = 'link_related';

/** Joins the links with the related records, and selects both keys. */
export function joinLinks<T extends ObjectLiteral>(
  query: SelectQueryBuilder<T>,
  links: LinkSelection,
  parameters: ObjectLiteral,
  dataSource: DataSource,
): SelectQueryBuilder<T> {
  const on = linkCondition(links, query.escape(RECORD), dataSource);
  const column = (name: string): string => `${query.escape(LINKS)}.${query.escape(name)}`;
  query.withDeleted().innerJoin(linkSql(links, dataSource), LINKS, on, parameters).limit(links.most);
  query.addSelect(asRead(links.owner, column('owner')), OWNER);
  return query.addSelect(asRead(links.related, column('related')), RELATED);
}

export const linkedKeys = ({ owner, related }: LinkSelection, dataSource: DataSource) => ({
  owner: (row: RawRow): unknown => keyIn(row[OWNER], owner, dataSource),
  related: (row: RawRow): unknown => keyIn(row[RELATED], related, dataSource),
});

function keyIn(raw: unknown, { textRead, column, type }: Field, { driver }: DataSource): unknown {
  return type.write(textRead ? textRead.read(raw) : driver.prepareHydratedValue(raw, column));
}

/** Equal for equal keys, whatever type they have. */
export const identityOf = (key: unknown): string => JSON.stringify(key);

/** A key that clients see, as the entity holds it. */
export function toEntityKey(key: unknown, { type }: Field): unknown {
  const reading = type.read(key);
  return 'value' in reading ? reading.value : key;
}

/** Fewer sizes make fewer statements. */
const SIZES = [1, 5, 20, 100, 300, 1_000, 3_000, 10_000];
const MAX_SIZE = 10_000;

/**
 * Keys that clients see, as the entity holds them, in lists for statements. A list is filled up with its last key, so
 * that there are few statements.
 */
export function chunksOf(keys: ReadonlySet<unknown>, field: Field): unknown[][] {
  const held = [...keys].map((key) => toEntityKey(key, field));
  const chunks: unknown[][] = [];
  for (let start = 0; start < held.length; start += MAX_SIZE) {
    const chunk = held.slice(start, start + MAX_SIZE);
    const size = SIZES.find((each) => each >= chunk.length) ?? MAX_SIZE;
    chunks.push([...chunk, ...Array.from({ length: size - chunk.length }, () => chunk.at(-1))]);
  }
  return chunks;
}
