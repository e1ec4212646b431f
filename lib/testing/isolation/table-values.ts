/** Reads the tables of an application: requests send their values, also those of records that a caller may not see. */
import type { INestApplication } from '@nestjs/common';
import { DataSource, type EntityMetadata, type ObjectLiteral } from 'typeorm';
import { applicationOf } from '../../routes/application.js';

/** The rows of each table, ordered by the primary key. */
export type Tables = ReadonlyMap<string, readonly Row[]>;

interface Row {
  readonly key: string;
  readonly text: string;
  readonly values: readonly Value[];
}

export interface Value {
  /** Of the column, as `nameOf` makes it; `id` for a primary key. */
  readonly name: string;
  readonly value: string | number | boolean;
}

/** `customer_name` and `customerName` are one name. */
export const nameOf = (text: string): string => text.toLowerCase().replace(/[^a-z\d]/g, '');

export async function readTables(app: INestApplication): Promise<Tables> {
  const tables = new Map<string, readonly Row[]>();
  for (const dataSource of applicationOf(app).singletonsOf(DataSource))
    for (const metadata of dataSource.entityMetadatas)
      if (metadata.tableType !== 'view') tables.set(metadata.tablePath, await readRows(dataSource, metadata));
  return tables;
}

async function readRows(dataSource: DataSource, { tablePath, primaryColumns }: EntityMetadata): Promise<Row[]> {
  const keys = primaryColumns.map(({ databaseName }) => databaseName);
  const query = dataSource.createQueryBuilder().select('*').from<ObjectLiteral>(tablePath, 'record').withDeleted();
  const rows = (await query.getRawMany<ObjectLiteral>()).map((row) => ({
    key: JSON.stringify(keys.map((name) => row[name] as unknown)),
    text: JSON.stringify(row),
    values: Object.entries(row).flatMap(([name, value]: [string, unknown]) => [
      ...valuesOf(nameOf(name), value),
      ...(keys.includes(name) ? valuesOf('id', value) : []),
    ]),
  }));
  return rows.toSorted((a, b) => a.key.localeCompare(b.key, 'en', { numeric: true }));
}

function valuesOf(name: string, value: unknown): Value[] {
  if (value instanceof Date) return [{ name, value: value.toISOString() }];
  return ['string', 'number', 'boolean'].includes(typeof value) ? [{ name, value } as Value] : [];
}

const contentsOf = (tables: Tables, part: 'key' | 'text'): string =>
  JSON.stringify([...tables].map(([name, rows]) => [name, ...rows.map((row) => row[part])]));

export const haveSameKeys = (a: Tables, b: Tables): boolean => contentsOf(a, 'key') === contentsOf(b, 'key');
export const haveSameRows = (a: Tables, b: Tables): boolean => contentsOf(a, 'text') === contentsOf(b, 'text');

/**
 * The values of the records of both databases, each once. Generated values such as the hash of a password differ each
 * time that the application is created, and are left out: the requests of a seed are always the same.
 */
export function stableValues(first: Tables, unchanged: Tables, varied: Tables): Value[] {
  const [inFirst, inUnchanged, inVaried] = [first, unchanged, varied].map(distinctValues) as [
    Distinct,
    Distinct,
    Distinct,
  ];
  const shared = [...inFirst].filter(([text]) => inUnchanged.has(text));
  const added = [...inVaried].filter(([text]) => !inUnchanged.has(text));
  return [...shared, ...added].map(([, value]) => value);
}

type Distinct = ReadonlyMap<string, Value>;

const distinctValues = (tables: Tables): Distinct =>
  new Map([...tables.values()].flat().flatMap(({ values }) => values.map((each) => [JSON.stringify(each), each])));
