/** What both ways to read a resource have in common. */
import type { DataSource, Repository, SelectQueryBuilder } from 'typeorm';
import type { Field } from '../../entities/entity-schema.js';
import type { AggregateRow } from '../declare/record-types.js';
import type { Aggregation } from '../query/aggregate-query.js';
import type { Condition } from '../sql/condition.js';
import { boundValues, parametersOf, RECORD } from '../sql/condition-sql.js';
import type { LinkSelection } from '../sql/link-sql.js';
import type { RawRow } from '../sql/statement.js';
import { aggregateRows } from './aggregation.js';
import { managerOf, type Call } from './call.js';
import type { Database } from './database.js';
import { estimateRows } from './estimate.js';
import { linkedKeys } from './linked-rows.js';
import { findInBlocks, positionOf } from './positions.js';
import { activeLock, addCondition, inCurrentTransaction } from './query-parts.js';
import type {
  LinkedRecord,
  PositionedRecord,
  RecordReader,
  RowLock,
  Selection,
  StoredResource,
} from './record-access.js';

/** Records, and the row of each with the values that a statement selects beside them. */
export interface Read<T> {
  readonly records: T[];
  readonly rows: readonly RawRow[];
}

export abstract class Reader<T extends object> implements RecordReader<T> {
  protected readonly dataSource: DataSource;

  constructor(
    protected readonly resource: StoredResource<T>,
    private readonly repository: Repository<T>,
    protected readonly database: Database,
  ) {
    this.dataSource = database.dataSource;
  }

  abstract count(call: Call, condition: Condition): Promise<number>;
  abstract exists(call: Call, condition: Condition): Promise<boolean>;
  /** @param keys read as the position of each row */
  protected abstract read(call: Call, selection: Selection, keys?: readonly Field[]): Promise<Read<T>>;
  protected abstract readLinked(call: Call, links: LinkSelection, fields: readonly Field[]): Promise<Read<T>>;

  find(call: Call, selection: Selection): Promise<T[]> {
    const lock = selection.lock && activeLock(call, this.database);
    return this.read(call, { ...selection, lock }).then(({ records }) => records);
  }

  findOne(call: Call, condition: Condition, fields: readonly Field[], lock?: RowLock): Promise<T | undefined> {
    return this.find(call, { condition, fields, sort: [], lock }).then(([record]) => record);
  }

  findAfter(...[call, list, limit, after]: Parameters<RecordReader<T>['findAfter']>): Promise<PositionedRecord<T>[]> {
    return findInBlocks(list, limit, after, async (selection, keys) => {
      const { records, rows } = await this.read(call, selection, keys);
      return records.map((record, index) => ({ record, position: positionOf(rows[index] ?? {}, keys) }));
    });
  }

  async findLinked(call: Call, links: LinkSelection, fields: readonly Field[]): Promise<LinkedRecord<T>[]> {
    const { records, rows } = await this.readLinked(call, links, fields);
    const { owner } = linkedKeys(links, this.dataSource);
    return records.map((record, index) => ({ record, owner: owner(rows[index] ?? {}) }));
  }

  estimate(call: Call, condition: Condition): Promise<number | undefined> {
    const runner = managerOf(call, this.database)?.queryRunner;
    return estimateRows(this.matching(call, condition), this.dataSource, runner);
  }

  aggregate(call: Call, condition: Condition, aggregation: Aggregation, limit: number): Promise<AggregateRow[]> {
    return aggregateRows(this.matching(call, condition), aggregation, limit, this.dataSource);
  }

  protected query(): SelectQueryBuilder<T> {
    return this.repository.createQueryBuilder(RECORD);
  }

  /** In the transaction of the call, and never from the query cache of the data source: a write may depend on it. */
  protected matching(call: Call, condition: Condition): SelectQueryBuilder<T> {
    const query = inCurrentTransaction(call, this.repository, this.database).createQueryBuilder(RECORD).cache(false);
    return addCondition(query, condition, parametersOf(boundValues(condition, this.dataSource)), this.dataSource);
  }
}
