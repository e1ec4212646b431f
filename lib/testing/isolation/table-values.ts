/** Reads the tables of an application: requests send their values, also those of records that a caller may not see. */
import type { INestApplication } from '@nestjs/common';
import { DataSource, type ObjectLiteral } from 'typeorm';
import { applicationOf } from '../../routes/application.js';

export interface Row {
  readonly table: string;
  /** The table and the primary key. */
  readonly key: string;
  readonly text: string;
  readonly values: readonly Value[];
}

export interface Value {
  /** The name of the column, as `nameOf` makes it; `id` for a primary key. */
  readonly name: string;
  readonly value: string | number | boolean;
}

/** `customer_name` and `customerName` are one name. */
export const nameOf = (text: string): string => text.toLowerCase().replace(/[^a-z\d]/g, '');

export async function readRows(app: INestApplication): Promise<Row[]> {
  const rows: Row[] = [];
  for (const dataSource of applicationOf(app).singletonsOf(DataSource))
    for (const { tablePath, tableType, primaryColumns } of dataSource.entityMetadatas) {
      if (tableType === 'view') continue;
      const query = dataSource.createQueryBuilder().select('*').from<ObjectLiteral>(tablePath, 'record').withDeleted();
      const keys = primaryColumns.map(({ databaseName }) => databaseName);
      for (const row of await query.getRawMany<ObjectLiteral>()) {
        const key = `${tablePath} ${JSON.stringify(keys.map((name) => row[name] as unknown))}`;
        const named: [string, unknown][] = [
          ...Object.entries(row),
          ...keys.map((name): [string, unknown] => ['id', row[name]]),
        ];
        const values = named.flatMap(([name, value]) => valuesOf(name, value));
        rows.push({ table: tablePath, key, text: `${key} ${JSON.stringify(row)}`, values });
      }
    }
  return rows.toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

function valuesOf(name: string, value: unknown): Value[] {
  if (value instanceof Date) return valuesOf(name, value.toISOString());
  return ['string', 'number', 'boolean'].includes(typeof value) ? [{ name: nameOf(name), value } as Value] : [];
}

export const areSame = (part: 'key' | 'text', some: readonly Row[], others: readonly Row[]): boolean =>
  some.length === others.length && some.every((row, place) => row[part] === others[place]?.[part]);

/**
 * The values of both databases; those of records that differ; those of records that only one database has. Each kind has
 * a value once. Values that are generated when the application is created, such as hashes of passwords, are left out: a
 * seed always makes the same requests.
 */
export function valuesByKind(first: readonly Row[], unchanged: readonly Row[], varied: readonly Row[]): Value[][] {
  const distinct = (rows: readonly Row[]) =>
    new Map(rows.flatMap(({ values }) => values.map((each) => [JSON.stringify(each), each] as const)));
  const [inFirst, inUnchanged] = [distinct(first), distinct(unchanged)];
  const differing = (part: 'key' | 'text'): Row[] => {
    const [before, after] = [new Set(unchanged.map((row) => row[part])), new Set(varied.map((row) => row[part]))];
    return [...unchanged, ...varied].filter((row) => before.has(row[part]) !== after.has(row[part]));
  };
  return [[...unchanged, ...varied], differing('text'), differing('key')].map((rows) => {
    const stable = [...distinct(rows)].filter(([text]) => inFirst.has(text) === inUnchanged.has(text));
    return stable.map(([, value]) => value);
  });
}
