/** Reads a resource by compiled statements, without entities: one function makes the record of a row. */
import type { DataSource, SelectQueryBuilder } from 'typeorm';
import type { Field } from '../../entities/entity-schema.js';
import { BoundedMap } from '../../http/bounded-map.js';
import { boundValues, shapeOf, ascending, type Condition } from '../sql/condition.js';
import { linkValues, type LinkSelection } from '../sql/link-sql.js';
import { compileStatement, namedParameters, type RawRow, type Statement, type StatementEnd } from '../sql/statement.js';
import type { Call } from './call.js';
import { joinLinks } from './linked-rows.js';
import { addCondition, addLock, addSort } from './query-parts.js';
import { selectPosition, type ReadResult, type RowReader } from './reader.js';
import type { Selection } from './record-access.js';
import { compileRow } from './row-projection.js';
import type { Table } from './table.js';

interface CompiledRead<T> {
  readonly statement: Statement;
  readonly recordOf: (row: RawRow) => T;
}

export class CompiledReader<T extends object> implements RowReader<T> {
  private readonly finds = new BoundedMap<CompiledRead<T>>();
  private readonly statements = new BoundedMap<Statement>();
  private readonly dataSource: DataSource;

  constructor(private readonly table: Table<T>) {
    this.dataSource = table.dataSource;
  }

  async read(call: Call, selection: Selection, keys: readonly Field[] = []): Promise<ReadResult<T>> {
    const compile = (): CompiledRead<T> => this.compileFind(call, selection, keys);
    const { statement, recordOf } = this.finds.get(`${call.writes} ${shapeOfSelection(selection, keys)}`, compile);
    const { condition, range } = selection;
    const values = boundValues(condition, this.dataSource);
    if (range) values.push(range.limit, range.offset);
    const { rows } = await statement(values, this.table.runner(call));
    return { records: rows.map(recordOf), rows };
  }

  async readLinked(call: Call, links: LinkSelection, fields: readonly Field[]): Promise<ReadResult<T>> {
    const compile = (): CompiledRead<T> => this.compileLinked(call, links, fields);
    const { statement, recordOf } = this.finds.get(`${call.writes} ${shapeOfLinks(links, fields)}`, compile);
    const { rows } = await statement(linkValues(links, this.dataSource), this.table.runner(call));
    return { records: rows.map(recordOf), rows };
  }

  async count(call: Call, condition: Condition): Promise<number> {
    // TypeORM's own count is COUNT(1), for which SQLite walks the whole table.
    const { rows } = await this.run(call, 'COUNT(*)', condition);
    return Number(rows[0]?.['found']);
  }

  async exists(call: Call, condition: Condition): Promise<boolean> {
    const { rows } = await this.run(call, '1', condition);
    return rows.length > 0;
  }

  private run(call: Call, selected: string, condition: Condition): ReturnType<Statement> {
    const compile = (): Statement => this.statement(this.table.query(call).select(selected, 'found'), condition);
    const statement = this.statements.get(`${call.writes} ${selected} ${shapeOf(condition)}`, compile);
    return statement(boundValues(condition, this.dataSource), this.table.runner(call));
  }

  private compileFind(call: Call, selection: Selection, keys: readonly Field[]): CompiledRead<T> {
    const { condition, fields, sort, range, isLocked } = selection;
    const row = compileRow(this.table, fields);
    const query = addLock(addSort(row.select(this.table.query(call)), sort, this.dataSource), isLocked);
    selectPosition(query, keys, this.dataSource);
    const first = boundValues(condition, this.dataSource).length;
    const end: StatementEnd = (parameter) => ` LIMIT ${parameter(first)} OFFSET ${parameter(first + 1)}`;
    return { statement: this.statement(query, condition, range && end), recordOf: row.recordOf };
  }

  private compileLinked(call: Call, links: LinkSelection, fields: readonly Field[]): CompiledRead<T> {
    const { dataSource } = this;
    const row = compileRow(this.table, fields);
    const names = namedParameters(linkValues(links, dataSource).length);
    const query = joinLinks(row.select(this.table.query(call)), links, names, dataSource);
    const sorted = addSort(query, ascending(links.related.fields), dataSource);
    const mode = dataSource.defaultReplicationModeForReads();
    return { statement: compileStatement(dataSource, mode, sorted), recordOf: row.recordOf };
  }

  private statement(query: SelectQueryBuilder<T>, condition: Condition, end?: StatementEnd): Statement {
    const names = namedParameters(boundValues(condition, this.dataSource).length);
    const mode = this.dataSource.defaultReplicationModeForReads();
    return compileStatement(this.dataSource, mode, addCondition(query, condition, names, this.dataSource), end);
  }
}

const namesOf = (fields: readonly Field[]): string => fields.map(({ name }) => name).join();

const shapeOfLinks = ({ relation, keys, condition, limit, most }: LinkSelection, fields: readonly Field[]): string =>
  `${relation.entityMetadata.tablePath}.${relation.propertyPath} ${keys.length} ${limit} ${most} ${namesOf(fields)} ${shapeOf(condition)}`;

const shapeOfSelection = (selection: Selection, keys: readonly Field[]): string => {
  const { condition, fields, sort, range, isLocked } = selection;
  const order = sort.map(({ field, descending }) => `${descending ? '-' : ''}${field.name}`).join();
  return `${namesOf(fields)} ${order} ${namesOf(keys)} ${!!range} ${!!isLocked} ${shapeOf(condition)}`;
};
