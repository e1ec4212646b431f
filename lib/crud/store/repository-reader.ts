/** Reads a resource through TypeORM's query builder, which hydrates entities: listeners and transformers run. */
import type { DataSource, Repository, SelectQueryBuilder } from 'typeorm';
import type { Field } from '../../entities/entity-schema.js';
import type { AggregateRow } from '../declare/record-types.js';
import type { Aggregation } from '../query/aggregate-query.js';
import { compare, EVERYTHING, type Condition } from '../sql/condition.js';
import { boundValues, parametersOf, RECORD } from '../sql/condition-sql.js';
import { linkValues, type LinkSelection } from '../sql/link-sql.js';
import { compileProjection, type Row } from './entity-projection.js';
import { aggregateRows } from './aggregation.js';
import { estimateRows } from './estimate.js';
import { activeLock, addCondition, addLock, addSort, inCurrentTransaction } from './query-parts.js';
import { findInBlocks, positionOf, selectPosition } from './positions.js';
import type {
  LinkedRecord,
  PositionedRecord,
  RecordReader,
  RowLock,
  Selection,
  StoredResource,
} from './record-access.js';
import { identityOf, joinLinks, linkedKeys } from './linked-rows.js';
import type { RawRow } from '../sql/statement.js';
import { managerOf, type Call } from './call.js';
import type { Database } from './database.js';

export class RepositoryReader<T extends object> implements RecordReader<T> {
  private readonly projection: ReturnType<typeof compileProjection<T>>;

  private readonly dataSource: DataSource;

  constructor(
    private readonly resource: StoredResource<T>,
    private readonly repository: Repository<T>,
    private readonly database: Database,
  ) {
    this.dataSource = database.dataSource;
    this.projection = compileProjection(resource.schema, resource.options.entity.prototype as object);
  }

  async find(call: Call, selection: Selection): Promise<T[]> {
    const lock = selection.lock && activeLock(call, this.database);
    const rows = await this.rows(call, this.sorted(call, { ...selection, lock }));
    return rows.map((row) => this.projection.recordOf(row, selection.fields));
  }

  findAfter(...[call, list, limit, after]: Parameters<RecordReader<T>['findAfter']>): Promise<PositionedRecord<T>[]> {
    return findInBlocks(list, limit, after, async (selection, keys) => {
      const query = this.sorted(call, selection);
      selectPosition(query, keys, this.dataSource);
      const rows = await this.rows(call, query);
      return rows.map((row) => ({
        record: this.projection.recordOf(row, selection.fields),
        position: positionOf(row.raw, keys),
      }));
    });
  }

  async findOne(call: Call, condition: Condition, fields: readonly Field[], lock?: RowLock): Promise<T | undefined> {
    const [record] = await this.find(call, { condition, fields, sort: [], lock });
    return record;
  }

  async findLinked(call: Call, links: LinkSelection, fields: readonly Field[]): Promise<LinkedRecord<T>[]> {
    const parameters = parametersOf(linkValues(links, this.dataSource));
    const query = joinLinks(this.select(call, EVERYTHING), links, parameters, this.dataSource);
    addSort(query, [{ field: links.related, descending: false }], this.dataSource);
    const { entities, raw } = await query.getRawAndEntities<RawRow>();
    const keys = linkedKeys(links, this.dataSource);
    const relatedOf = (row: RawRow): string => identityOf(keys.related(row));
    const distinct = new Map<string, RawRow>();
    // TypeORM makes one entity of the rows with one key.
    for (const row of raw) if (!distinct.has(relatedOf(row))) distinct.set(relatedOf(row), row);
    const rows = await this.paired(call, entities, [...distinct.values()]);
    const byKey = new Map([...distinct.keys()].map((key, index) => [key, rows[index]]));
    return raw.flatMap((each) => {
      const row = byKey.get(relatedOf(each));
      return row ? [{ owner: keys.owner(each), record: this.projection.recordOf(row, fields) }] : [];
    });
  }

  count(call: Call, condition: Condition): Promise<number> {
    return this.query(call, condition).getCount();
  }

  estimate(call: Call): Promise<number | undefined> {
    const query = this.repository.createQueryBuilder(RECORD);
    return estimateRows(query, this.dataSource, managerOf(call, this.database)?.queryRunner);
  }

  exists(call: Call, condition: Condition): Promise<boolean> {
    return this.query(call, condition).getExists();
  }

  aggregate(call: Call, condition: Condition, aggregation: Aggregation, limit: number): Promise<AggregateRow[]> {
    return aggregateRows(this.query(call, condition), aggregation, limit, this.dataSource);
  }

  private sorted(call: Call, { condition, fields, sort, range, lock }: Selection): SelectQueryBuilder<T> {
    const query = addLock(addSort(this.select(call, condition), sort, this.dataSource), lock);
    for (const { column, property } of fields) if (!column.isSelect) query.addSelect(`${RECORD}.${property}`);
    return range ? query.offset(range.offset).limit(range.limit) : query;
  }

  private query(call: Call, condition: Condition): SelectQueryBuilder<T> {
    const query = inCurrentTransaction(call, this.repository, this.database).createQueryBuilder(RECORD);
    return addCondition(query, condition, parametersOf(boundValues(condition, this.dataSource)), this.dataSource);
  }

  private select(call: Call, condition: Condition): SelectQueryBuilder<T> {
    const query = this.query(call, condition);
    this.projection.select(query);
    return query;
  }

  private async rows(call: Call, query: SelectQueryBuilder<T>): Promise<Row<T>[]> {
    const { entities, raw } = await query.getRawAndEntities<RawRow>();
    const rows = await this.paired(call, entities, raw);
    return rows.filter((row) => row !== undefined);
  }

  private async paired(
    call: Call,
    entities: readonly T[],
    raw: readonly RawRow[],
  ): Promise<readonly (Row<T> | undefined)[]> {
    if (entities.length === raw.length) return entities.map((entity, index) => ({ entity, raw: raw[index] ?? {} }));
    // TypeORM merged two keys beyond 53 bits into one: each row is read again by its exact key.
    const rows = await Promise.all(raw.map((each) => this.rowOf(call, this.projection.keyOf(each))));
    return rows.map((row, index) => row && { entity: row.entity, raw: raw[index] ?? {} });
  }

  private async rowOf(call: Call, key: unknown): Promise<Row<T> | undefined> {
    const [row] = await this.rows(call, this.select(call, compare(this.resource.schema.id, 'eq', key)));
    return row;
  }
}
