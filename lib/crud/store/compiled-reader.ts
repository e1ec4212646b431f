/** Reads a resource by compiled statements, without entities: one function makes the record of a row. */
import type { DataSource, QueryRunner, SelectQueryBuilder } from 'typeorm';
import type { Field } from '../../entities/entity-schema.js';
import type { AggregateRow } from '../declare/record-types.js';
import type { Aggregation } from '../query/aggregate-query.js';
import type { Condition } from '../sql/condition.js';

import { boundValues, parametersOf, RECORD, shapeOf } from '../sql/condition-sql.js';
import { aggregateRows } from './aggregation.js';
import { estimateRows } from './estimate.js';
import { activeLock, addCondition, addLock, addSort, inCurrentTransaction } from './query-parts.js';
import { findInBlocks, positionOf, selectPosition } from './positions.js';
import { linkValues, type LinkSelection } from '../sql/link-sql.js';
import { joinLinks, linkedKeys } from './linked-rows.js';
import type {
  LinkedRecord,
  PositionedRecord,
  RecordReader,
  RowLock,
  Selection,
  StoredResource,
} from './record-access.js';
import { compileRow } from './row-projection.js';
import {
  compileStatement,
  namedParameters,
  type RawRow,
  type Statement,
  type StatementEnd,
  StatementCache,
} from '../sql/statement.js';
import { managerOf, type Call } from './call.js';
import type { Database } from './database.js';

interface Find<T> {
  readonly statement: Statement;
  readonly recordOf: (row: RawRow) => T;
}

export class CompiledReader<T extends object> implements RecordReader<T> {
  private readonly finds = new StatementCache<Find<T>>();
  private readonly statements = new StatementCache<Statement>();

  private readonly dataSource: DataSource;

  constructor(
    private readonly resource: StoredResource<T>,
    private readonly database: Database,
  ) {
    this.dataSource = database.dataSource;
  }

  async find(call: Call, selection: Selection): Promise<T[]> {
    const lock = selection.lock && activeLock(call, this.database);
    const { statement, recordOf } = this.prepare({ ...selection, lock });
    const { rows } = await statement(this.valuesOf(selection), this.runnerOf(call));
    return rows.map(recordOf);
  }

  findAfter(...[call, list, limit, after]: Parameters<RecordReader<T>['findAfter']>): Promise<PositionedRecord<T>[]> {
    return findInBlocks(list, limit, after, async (selection, keys) => {
      const { statement, recordOf } = this.prepare(selection, keys);
      const { rows } = await statement(this.valuesOf(selection), this.runnerOf(call));
      return rows.map((row) => ({ record: recordOf(row), position: positionOf(row, keys) }));
    });
  }

  findOne(call: Call, condition: Condition, fields: readonly Field[], lock?: RowLock): Promise<T | undefined> {
    return this.find(call, { condition, fields, sort: [], lock }).then(([record]) => record);
  }

  async findLinked(call: Call, links: LinkSelection, fields: readonly Field[]): Promise<LinkedRecord<T>[]> {
    const compile = (): Find<T> => this.compileLinked(links, fields);
    const { statement, recordOf } = this.finds.get(shapeOfLinks(links, fields), compile);
    const { rows } = await statement(linkValues(links, this.dataSource), this.runnerOf(call));
    const keys = linkedKeys(links, this.dataSource);
    return rows.map((row) => ({ owner: keys.owner(row), record: recordOf(row) }));
  }

  async count(call: Call, condition: Condition): Promise<number> {
    // TypeORM's own count is COUNT(1), for which SQLite walks the whole table.
    const { rows } = await this.run(call, 'COUNT(*)', condition);
    return Number(rows[0]?.['found']);
  }

  estimate(call: Call): Promise<number | undefined> {
    return estimateRows(this.query(), this.dataSource, this.runnerOf(call));
  }

  async exists(call: Call, condition: Condition): Promise<boolean> {
    const { rows } = await this.run(call, '1', condition);
    return rows.length > 0;
  }

  aggregate(call: Call, condition: Condition, aggregation: Aggregation, limit: number): Promise<AggregateRow[]> {
    return aggregateRows(this.matching(call, condition), aggregation, limit, this.dataSource);
  }

  private matching(call: Call, condition: Condition): SelectQueryBuilder<T> {
    const repository = this.dataSource.getRepository(this.resource.options.entity);
    const query = inCurrentTransaction(call, repository, this.database).createQueryBuilder(RECORD);
    return addCondition(query, condition, parametersOf(boundValues(condition, this.dataSource)), this.dataSource);
  }

  /** @param keys read as the position of each row */
  private prepare(selection: Selection, keys: readonly Field[] = []): Find<T> {
    return this.finds.get(shapeOfSelection(selection, keys), () => this.compileFind(selection, keys));
  }

  private valuesOf({ condition, range }: Selection): unknown[] {
    const values = boundValues(condition, this.dataSource);
    return range ? [...values, range.limit, range.offset] : values;
  }

  private run(call: Call, selected: string, condition: Condition): ReturnType<Statement> {
    const compile = (): Statement => this.statement(this.query().select(selected, 'found'), condition);
    const statement = this.statements.get(`${selected} ${shapeOf(condition)}`, compile);
    return statement(boundValues(condition, this.dataSource), this.runnerOf(call));
  }

  private runnerOf(call: Call): QueryRunner | undefined {
    return managerOf(call, this.database)?.queryRunner;
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
