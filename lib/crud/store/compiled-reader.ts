/** Reads a resource by compiled statements, without entities: one function makes the record of a row. */
import type { DataSource, SelectQueryBuilder } from 'typeorm';
import type { Field } from '../../entities/entity-schema.js';
import type { AggregateRow } from '../declare/record-types.js';
import type { Aggregation } from '../query/aggregate-query.js';
import type { Condition } from '../sql/condition.js';
import type { Resource } from '../plan/resource.js';
import { boundValues, parametersOf, RECORD, shapeOf } from '../sql/condition-sql.js';
import { aggregateRows } from './aggregation.js';
import { estimateRows } from './estimate.js';
import { activeLock, addCondition, addLock, addSort } from './query-parts.js';
import { findInBlocks, positionOf, selectPosition } from './positions.js';
import { linkValues, type LinkSelection } from '../sql/link-sql.js';
import { joinLinks, linkedKeys } from './linked-rows.js';
import type { LinkedRecord, PositionedRecord, RecordReader, RowLock, Selection } from './record-access.js';
import { compileRow } from './row-projection.js';
import { compileStatement, namedParameters, type RawRow, type Statement, type StatementEnd } from '../sql/statement.js';
import { StatementCache } from '../sql/statement-cache.js';
import { joined } from './transactions.js';

interface Find<T> {
  readonly statement: Statement;
  readonly recordOf: (row: RawRow) => T;
}

export class CompiledReader<T extends object> implements RecordReader<T> {
  private readonly finds = new StatementCache<Find<T>>();
  private readonly statements = new StatementCache<Statement>();

  constructor(
    private readonly resource: Resource<T>,
    private readonly dataSource: DataSource,
  ) {}

  async find(selection: Selection): Promise<T[]> {
    const lock = selection.lock && activeLock(this.dataSource);
    const { rows, recordOf } = await this.select({ ...selection, lock });
    return rows.map(recordOf);
  }

  findAfter(...args: Parameters<RecordReader<T>['findAfter']>): Promise<PositionedRecord<T>[]> {
    return findInBlocks(args, async (selection, keys) => {
      const { rows, recordOf } = await this.select(selection, keys);
      return rows.map((row) => ({ record: recordOf(row), position: positionOf(row, keys) }));
    });
  }

  async findOne(condition: Condition, fields: readonly Field[], lock?: RowLock): Promise<T | undefined> {
    const [record] = await this.find({ condition, fields, sort: [], lock });
    return record;
  }

  async findLinked(links: LinkSelection, fields: readonly Field[]): Promise<LinkedRecord<T>[]> {
    const compile = (): Find<T> => this.compileLinked(links, fields);
    const { statement, recordOf } = this.finds.get(shapeOfLinks(links, fields), compile);
    const { rows } = await statement(linkValues(links, this.dataSource));
    const keys = linkedKeys(links, this.dataSource);
    return rows.map((row) => ({ owner: keys.owner(row), record: recordOf(row) }));
  }

  async count(condition: Condition): Promise<number> {
    // TypeORM's own count is COUNT(1), for which SQLite walks the whole table.
    const { rows } = await this.run('COUNT(*)', condition);
    return Number(rows[0]?.['found']);
  }

  estimate(): Promise<number | undefined> {
    return estimateRows(this.query(), this.dataSource);
  }

  async exists(condition: Condition): Promise<boolean> {
    const { rows } = await this.run('1', condition);
    return rows.length > 0;
  }

  aggregate(condition: Condition, aggregation: Aggregation, limit: number): Promise<AggregateRow[]> {
    return aggregateRows(this.matching(condition), aggregation, limit, this.dataSource);
  }

  private matching(condition: Condition): SelectQueryBuilder<T> {
    const { entity } = this.resource.options;
    const query = joined(this.dataSource.getRepository(entity), this.dataSource).createQueryBuilder(RECORD);
    return addCondition(query, condition, parametersOf(boundValues(condition, this.dataSource)), this.dataSource);
  }

  /** @param keys read as the position of each row */
  private async select(selection: Selection, keys: readonly Field[] = []) {
    const compile = (): Find<T> => this.compileFind(selection, keys);
    const { statement, recordOf } = this.finds.get(shapeOfSelection(selection, keys), compile);
    const { condition, range } = selection;
    const values = boundValues(condition, this.dataSource);
    const { rows } = await statement(range ? [...values, range.limit, range.offset] : values);
    return { rows, recordOf };
  }

  private run(selected: string, condition: Condition): ReturnType<Statement> {
    const compile = (): Statement => this.statement(this.query().select(selected, 'found'), condition);
    const statement = this.statements.get(`${selected} ${shapeOf(condition)}`, compile);
    return statement(boundValues(condition, this.dataSource));
  }

  private compileFind({ condition, fields, sort, range, lock }: Selection, keys: readonly Field[]): Find<T> {
    const row = compileRow(this.resource, fields, this.dataSource);
    const query = addLock(addSort(row.select(this.query()), sort, this.dataSource), lock);
    selectPosition(query, keys, this.dataSource);
    const first = boundValues(condition, this.dataSource).length;
    const end: StatementEnd = (parameter) => ` LIMIT ${parameter(first)} OFFSET ${parameter(first + 1)}`;
    return { statement: this.statement(query, condition, range && end), recordOf: row.recordOf };
  }

  private compileLinked(links: LinkSelection, fields: readonly Field[]): Find<T> {
    const { dataSource } = this;
    const row = compileRow(this.resource, fields, dataSource);
    const names = namedParameters(linkValues(links, dataSource).length);
    const query = joinLinks(row.select(this.query()), links, names, dataSource);
    const sorted = addSort(query, [{ field: links.related, descending: false }], dataSource);
    const mode = dataSource.defaultReplicationModeForReads();
    return { statement: compileStatement(dataSource, mode, sorted), recordOf: row.recordOf };
  }

  private query(): SelectQueryBuilder<T> {
    return this.dataSource.getRepository(this.resource.options.entity).createQueryBuilder(RECORD);
  }

  private statement(query: SelectQueryBuilder<T>, condition: Condition, end?: StatementEnd): Statement {
    const names = namedParameters(boundValues(condition, this.dataSource).length);
    const mode = this.dataSource.defaultReplicationModeForReads();
    return compileStatement(this.dataSource, mode, addCondition(query, condition, names, this.dataSource), end);
  }
}

const shapeOfLinks = ({ relation, keys, condition, limit }: LinkSelection, fields: readonly Field[]): string =>
  [
    `${relation.entityMetadata.tablePath}.${relation.propertyPath}`,
    keys.length,
    limit ?? 'all',
    fields.map(({ name }) => name).join(),
    shapeOf(condition),
  ].join(' ');

const shapeOfSelection = ({ condition, fields, sort, range, lock }: Selection, keys: readonly Field[]): string =>
  [
    fields.map(({ name }) => name).join(),
    sort.map(({ field, descending }) => `${descending ? '-' : ''}${field.name}`).join(),
    keys.map(({ name }) => name).join(),
    range ? 'range' : 'all',
    lock ?? '',
    shapeOf(condition),
  ].join(' ');
