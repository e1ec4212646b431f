/** Reads the table of a resource. */
import type { DataSource, ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import { isMysql, isPostgres, isSqlite } from '../../entities/database-family.js';
import type { Field } from '../../entities/entity-schema.js';
import type { AggregateRow } from '../declare/record-types.js';
import type { Aggregation } from '../query/aggregate-query.js';
import { and, type Condition } from '../sql/condition.js';
import type { LinkSelection } from '../sql/link-sql.js';
import { dialectOf } from '../sql/dialect.js';
import { blocksAfter, type Position } from '../sql/keyset.js';
import type { RawRow } from '../sql/statement.js';
import { aggregateRows } from './aggregation.js';
import type { Call } from './call.js';
import { linkedKeys } from './linked-rows.js';
import type { Selection } from './record-access.js';
import type { Table } from './table.js';

export interface PositionedRecord<T> {
  readonly record: T;
  readonly position: Position;
}

/** A related record of an owner. One that several owners have comes once for each. */
interface LinkedRecord<T> {
  readonly owner: unknown;
  readonly record: T;
}

/** Records, and the row of each with the values that a statement selects beside them. */
export interface ReadResult<T> {
  readonly records: T[];
  readonly rows: readonly RawRow[];
}

/** How rows become records: by a compiled function, or as the entities of TypeORM. */
export interface RowReader<T> {
  count(call: Call, condition: Condition): Promise<number>;
  exists(call: Call, condition: Condition): Promise<boolean>;
  /** @param keys read as the position of each row */
  read(call: Call, selection: Selection, keys?: readonly Field[]): Promise<ReadResult<T>>;
  readLinked(call: Call, links: LinkSelection, fields: readonly Field[]): Promise<ReadResult<T>>;
}

/** Records have the selected fields and nothing else; their prototype is the entity's. */
export class Reader<T extends object> {
  constructor(
    private readonly table: Table<T>,
    private readonly rows: RowReader<T>,
  ) {}

  count(call: Call, condition: Condition): Promise<number> {
    return this.rows.count(call, condition);
  }

  exists(call: Call, condition: Condition): Promise<boolean> {
    return this.rows.exists(call, condition);
  }

  async find(call: Call, selection: Selection): Promise<T[]> {
    const { isLocked } = selection;
    // SQLite has no locks: there a transaction has the connection for itself.
    const mayLock = isLocked && !isSqlite(this.table.dataSource) && this.table.runner(call) !== undefined;
    return (await this.rows.read(call, isLocked && !mayLock ? { ...selection, isLocked: false } : selection)).records;
  }

  async findOne(call: Call, condition: Condition, fields: readonly Field[], isLocked?: boolean) {
    const [record] = await this.find(call, { condition, fields, sort: [], isLocked });
    return record;
  }

  /**
   * The records behind a position of a sorted list, or its first ones. The cost does not depend on the position: one
   * statement for each block of the sort, until there are enough records.
   */
  async findAfter(call: Call, list: Omit<Selection, 'range'>, limit: number, after: Position | undefined) {
    const keys = list.sort.map(({ field }) => field);
    const found: PositionedRecord<T>[] = [];
    for (const { condition, sort } of blocksAfter(list.sort, after)) {
      const range = { limit: limit - found.length, offset: 0 };
      const block = { ...list, condition: and(list.condition, condition), sort, range };
      const { records, rows } = await this.rows.read(call, block, keys);
      const positionOf = (row: RawRow = {}): Position =>
        keys.map((_, place) => (row[positionAlias(place)] ?? null) as Position[number]);
      found.push(...records.map((record, index) => ({ record, position: positionOf(rows[index]) })));
      if (found.length >= limit) break;
    }
    return found;
  }

  async findLinked(call: Call, links: LinkSelection, fields: readonly Field[]): Promise<LinkedRecord<T>[]> {
    const { records, rows } = await this.rows.readLinked(call, links, fields);
    const { owner } = linkedKeys(links, this.table.dataSource);
    return records.map((record, index) => ({ record, owner: owner(rows[index] ?? {}) }));
  }

  /** The planner's figure; `undefined` where the database gives none. */
  async estimate(call: Call, condition: Condition): Promise<number | undefined> {
    const { dataSource } = this.table;
    const [sql, parameters] = this.table.matching(call, condition).select('1', 'found').getQueryAndParameters();
    const runner = this.table.runner(call);
    const explain = (prefix: string): Promise<unknown> => dataSource.query(`${prefix} ${sql}`, parameters, runner);
    if (isPostgres(dataSource)) {
      const [row] = (await explain('EXPLAIN (FORMAT JSON)')) as {
        'QUERY PLAN': { Plan: { 'Plan Rows': unknown } }[];
      }[];
      return figureOf(row?.['QUERY PLAN'][0]?.Plan['Plan Rows']);
    }
    if (!isMysql(dataSource)) return undefined;
    const [row] = (await explain('EXPLAIN FORMAT=TRADITIONAL')) as { rows: unknown; filtered?: unknown }[];
    const share = Number(row?.filtered ?? 100) / 100;
    return figureOf(Math.round(Number(row?.rows ?? Number.NaN) * share));
  }

  aggregate(call: Call, condition: Condition, aggregation: Aggregation, limit: number): Promise<AggregateRow[]> {
    return aggregateRows(this.table.matching(call, condition), aggregation, limit, this.table.dataSource);
  }
}

function figureOf(rows: unknown): number | undefined {
  const figure = Number(rows ?? Number.NaN);
  return Number.isSafeInteger(figure) && figure >= 0 ? figure : undefined;
}

const positionAlias = (place: number): string => `key${place}`;

/** Selects the values of the sort, which make the position of a row. */
export function selectPosition<T extends ObjectLiteral>(
  query: SelectQueryBuilder<T>,
  keys: readonly Field[],
  dataSource: DataSource,
): void {
  const dialect = dialectOf(dataSource);
  for (const [place, field] of keys.entries()) {
    const name = `${query.escape(query.alias)}.${query.escape(field.column.databaseName)}`;
    query.addSelect(dialect.exactText(name, field), positionAlias(place));
  }
}
