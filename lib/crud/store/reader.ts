/** Reads the table of a resource: by compiled statements, unless it has to be read through its repository. */
import type { DataSource, SelectQueryBuilder } from 'typeorm';
import { BoundedMap } from '../../http/bounded-map.js';
import { isMysql, isPostgres, isSqlite } from '../../entities/database-family.js';
import type { Field } from '../../entities/entity-schema.js';
import type { AggregateRow } from '../declare/record-types.js';
import type { Aggregation } from '../query/aggregate-query.js';
import { and, ascending, EVERYTHING, shapeOf, type Condition } from '../sql/condition.js';
import { fieldSql } from '../sql/condition-sql.js';
import { dialectOf } from '../sql/dialect.js';
import { blocksAfter, type Position } from '../sql/keyset.js';
import { linkValues, type LinkSelection } from '../sql/link-sql.js';
import { joinLinks, linkedKeys } from './linked-rows.js';
import { compileStatement, namedParameters, type RawRow, type Statement, type StatementEnd } from '../sql/statement.js';
import { aggregateRows } from './aggregation.js';
import { managerOf, type Call } from './call.js';
import { compileRow } from './row-projection.js';
import type { Selection, Table } from './table.js';

export interface PositionedRecord {
  readonly record: object;
  readonly position: Position;
}

/** A related record of an owner. One that several owners have comes once for each. */
interface LinkedRecord {
  readonly owner: unknown;
  readonly record: object;
}

/** Records, and the row of each with the values that a statement selects beside them. */
export interface ReadResult {
  readonly records: object[];
  readonly rows: readonly RawRow[];
}

/** Records have the selected fields and nothing else; their prototype is the entity's. */
export abstract class Reader {
  protected readonly dataSource: DataSource;

  constructor(protected readonly table: Table) {
    this.dataSource = table.dataSource;
  }

  abstract count(call: Call, condition: Condition): Promise<number>;
  abstract exists(call: Call, condition: Condition): Promise<boolean>;
  /** @param keys read as the position of each row */
  protected abstract read(call: Call, selection: Selection, keys?: readonly Field[]): Promise<ReadResult>;
  protected abstract readLinked(call: Call, links: LinkSelection, fields: readonly Field[]): Promise<ReadResult>;

  async find(call: Call, selection: Selection): Promise<object[]> {
    const { isLocked } = selection;
    // SQLite has no locks: there a transaction has the connection for itself.
    const mayLock = isLocked && !isSqlite(this.dataSource) && managerOf(call, this.table.database) !== undefined;
    return (await this.read(call, isLocked && !mayLock ? { ...selection, isLocked: false } : selection)).records;
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
    const found: PositionedRecord[] = [];
    for (const { condition, sort } of blocksAfter(list.sort, after)) {
      const range = { limit: limit - found.length, offset: 0 };
      const block = { ...list, condition: and(list.condition, condition), sort, range };
      const { records, rows } = await this.read(call, block, keys);
      const positionOf = (row: RawRow = {}): Position =>
        keys.map((_, place) => (row[positionAlias(place)] ?? null) as Position[number]);
      found.push(...records.map((record, index) => ({ record, position: positionOf(rows[index]) })));
      if (found.length >= limit) break;
    }
    return found;
  }

  /** Selects the values of the sort, which make the position of a row. */
  protected selectPosition(query: SelectQueryBuilder<object>, keys: readonly Field[]): void {
    for (const [place, field] of keys.entries()) {
      const name = fieldSql(field, query.escape(query.alias), this.dataSource);
      query.addSelect(dialectOf(this.dataSource).exactText(name, field), positionAlias(place));
    }
  }

  async findLinked(call: Call, links: LinkSelection, fields: readonly Field[]): Promise<LinkedRecord[]> {
    const { records, rows } = await this.readLinked(call, links, fields);
    const { owner } = linkedKeys(links, this.dataSource);
    return records.map((record, index) => ({ record, owner: owner(rows[index] ?? {}) }));
  }

  /** How many records match, at most `most`: there the database stops counting. */
  async countUpTo(call: Call, condition: Condition, most: number): Promise<number> {
    const matching = this.table.matching(call, condition).select('1', 'found').limit(most);
    const query = this.dataSource.createQueryBuilder(this.table.runner(call)).select('COUNT(*)', 'found');
    query.from(`(${matching.getQuery()})`, 'matching').setParameters(matching.getParameters()).cache(false);
    return Number((await query.getRawOne<RawRow>())?.['found']);
  }

  /** The planner's figure; `undefined` where the database gives none. */
  async estimate(call: Call, condition: Condition): Promise<number | undefined> {
    const { dataSource } = this;
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
    return aggregateRows(this.table.matching(call, condition).limit(limit), aggregation, this.dataSource);
  }
}

function figureOf(rows: unknown): number | undefined {
  const figure = Number(rows ?? Number.NaN);
  return Number.isSafeInteger(figure) && figure >= 0 ? figure : undefined;
}

const positionAlias = (place: number): string => `key${place}`;

interface CompiledRead {
  readonly statement: Statement;
  readonly recordOf: (row: RawRow) => object;
}

/** Reads without entities: one function makes the record of a row. */
export class CompiledReader extends Reader {
  private readonly reads = new BoundedMap<CompiledRead>();
  private readonly figures = new BoundedMap<Statement>();

  async count(call: Call, condition: Condition): Promise<number> {
    // TypeORM's own count is COUNT(1), for which SQLite walks the whole table.
    const { rows } = await this.select(call, 'COUNT(*)', condition);
    return Number(rows[0]?.['found']);
  }

  async exists(call: Call, condition: Condition): Promise<boolean> {
    const { rows } = await this.select(call, '1', condition);
    return rows.length > 0;
  }

  protected read(call: Call, selection: Selection, keys: readonly Field[] = []): Promise<ReadResult> {
    const { condition, range } = selection;
    const values = this.table.bound(condition);
    if (range) values.push(range.limit, range.offset);
    return this.run(call, shapeOfSelection(selection, keys), values, () => this.compile(call, selection, keys));
  }

  protected readLinked(call: Call, links: LinkSelection, fields: readonly Field[]): Promise<ReadResult> {
    const values = linkValues(links, this.dataSource);
    return this.run(call, shapeOfLinks(links, fields), values, () => this.compileLinked(call, links, fields));
  }

  private async run(call: Call, shape: string, values: readonly unknown[], compile: () => CompiledRead) {
    const { statement, recordOf } = this.reads.get(`${call.writes} ${shape}`, compile);
    const { rows } = await statement(values, this.table.runner(call));
    return { records: rows.map(recordOf), rows };
  }

  private select(call: Call, selected: string, condition: Condition): ReturnType<Statement> {
    const compile = (): Statement => this.statement(this.table.query(call).select(selected, 'found'), condition);
    const statement = this.figures.get(`${call.writes} ${selected} ${shapeOf(condition)}`, compile);
    return statement(this.table.bound(condition), this.table.runner(call));
  }

  private compile(call: Call, selection: Selection, keys: readonly Field[]): CompiledRead {
    const { condition, fields, sort, range, isLocked } = selection;
    const row = compileRow(this.table, fields);
    const query = this.table.addSort(row.select(this.table.query(call)), sort, isLocked);
    this.selectPosition(query, keys);
    const first = this.table.bound(condition).length;
    const end: StatementEnd = (parameter) => ` LIMIT ${parameter(first)} OFFSET ${parameter(first + 1)}`;
    return { statement: this.statement(query, condition, range && end), recordOf: row.recordOf };
  }

  private compileLinked(call: Call, links: LinkSelection, fields: readonly Field[]): CompiledRead {
    const row = compileRow(this.table, fields);
    const names = namedParameters(linkValues(links, this.dataSource).length);
    const query = joinLinks(row.select(this.table.query(call)), links, names, this.dataSource);
    const statement = this.statement(this.table.addSort(query, ascending(links.related.fields)));
    return { statement, recordOf: row.recordOf };
  }

  private statement(query: SelectQueryBuilder<object>, condition: Condition = EVERYTHING, end?: StatementEnd) {
    const names = namedParameters(this.table.bound(condition).length);
    const mode = this.dataSource.defaultReplicationModeForReads();
    return compileStatement(this.dataSource, mode, this.table.addCondition(query, condition, names), end);
  }
}

const namesOf = (fields: readonly Field[]): string => fields.map(({ name }) => name).join();

const shapeOfLinks = ({ relation, keys, condition, limit, most }: LinkSelection, fields: readonly Field[]): string =>
  `${relation.entityMetadata.tablePath}.${relation.propertyPath} ${keys.length} ${limit} ${most} ${namesOf(fields)} ${shapeOf(condition)}`;

const shapeOfSelection = ({ condition, fields, sort, range, isLocked }: Selection, keys: readonly Field[]): string => {
  const order = sort.map(({ field, descending }) => `${descending ? '-' : ''}${field.name}`).join();
  return `${namesOf(fields)} ${order} ${namesOf(keys)} ${!!range} ${!!isLocked} ${shapeOf(condition)}`;
};
