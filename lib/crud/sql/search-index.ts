/** The index of `searchIndex: true`: what creates it on each database, and how it is found there. */
import type { DataSource, EntityMetadata } from 'typeorm';
import { isPostgres, isSqlite } from '../../entities/database-family.js';
import type { Field } from '../../entities/entity-schema.js';
import { escapePath } from './dialect.js';

export interface SearchIndex {
  /** They change nothing where the index exists. */
  readonly statements: readonly string[];
  /** Selects a row for each of `names` that the database has. */
  readonly lookup: string;
  readonly names: readonly string[];
  /** SQLite: the table that a search looks into. */
  readonly table?: string;
}

/** @returns `undefined` where the database has no index for parts of words */
export function searchIndexOf(metadata: EntityMetadata, fields: readonly Field[], dataSource: DataSource) {
  if (isPostgres(dataSource)) return postgresIndex(metadata, fields, dataSource);
  return isSqlite(dataSource) ? sqliteIndex(metadata, fields, dataSource) : undefined;
}

const literals = (texts: readonly string[]): string =>
  texts.map((text) => `'${text.replaceAll("'", "''")}'`).join(', ');

/** Another name than that of an index on the same columns which the entity declares. */
const nameOf = ({ tableName }: EntityMetadata, columns: readonly string[], { namingStrategy }: DataSource): string =>
  namingStrategy.indexName(tableName, [...columns], 'search');

/** The text of an enum is not immutable, so that it cannot be indexed. */
function postgresIndex(metadata: EntityMetadata, fields: readonly Field[], dataSource: DataSource): SearchIndex {
  const { driver } = dataSource;
  const columns = fields.filter(({ type }) => type.comparison !== 'label').map(({ column }) => column.databaseName);
  const names = columns.map((column) => nameOf(metadata, [column], dataSource));
  const table = escapePath(metadata.tablePath, driver);
  const indexes = columns.map(
    (column, place) =>
      `CREATE INDEX IF NOT EXISTS ${driver.escape(names[place] ?? '')} ON ${table} USING gin ((CAST(${driver.escape(column)} AS text)) gin_trgm_ops)`,
  );
  return {
    statements: ['CREATE EXTENSION IF NOT EXISTS pg_trgm', ...indexes],
    lookup: `SELECT indexname FROM pg_indexes WHERE indexname IN (${literals(names)})`,
    names,
  };
}

/** A table without own content, which triggers keep up to date (SQLite FTS5, "External Content Tables"). */
function sqliteIndex(metadata: EntityMetadata, fields: readonly Field[], dataSource: DataSource): SearchIndex {
  const escape = (name: string): string => dataSource.driver.escape(name);
  const columns = fields.map(({ column }) => column.databaseName);
  const name = nameOf(metadata, columns, dataSource);
  const [index, content] = [escape(name), escape(metadata.tableName)];
  const id = metadata.primaryColumns[0]?.databaseName ?? '';
  const list = columns.map(escape).join(', ');
  const valuesOf = (row: string): string => [id, ...columns].map((column) => `${row}.${escape(column)}`).join(', ');
  const remove = `INSERT INTO ${index} (${index}, rowid, ${list}) VALUES ('delete', ${valuesOf('old')});`;
  const add = `INSERT INTO ${index} (rowid, ${list}) VALUES (${valuesOf('new')});`;
  const bodies = { insert: add, update: `${remove} ${add}`, delete: remove };
  const triggers = Object.entries(bodies).map(
    ([event, body]) =>
      `CREATE TRIGGER IF NOT EXISTS ${escape(`${name}_${event}`)} AFTER ${event.toUpperCase()} ON ${content} BEGIN ${body} END`,
  );
  const names = [name, ...Object.keys(bodies).map((event) => `${name}_${event}`)];
  return {
    statements: [
      `CREATE VIRTUAL TABLE IF NOT EXISTS ${index} USING fts5(${list}, content=${content}, content_rowid=${escape(id)}, tokenize='trigram')`,
      ...triggers,
      `INSERT INTO ${index} (${index}) VALUES ('rebuild')`,
    ],
    lookup: `SELECT name FROM sqlite_master WHERE name IN (${literals(names)})`,
    names,
    table: name,
  };
}
