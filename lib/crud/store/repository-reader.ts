/** Reads a resource through TypeORM's query builder, which hydrates entities: listeners and transformers run. */
import type { DataSource, Repository, SelectQueryBuilder } from 'typeorm';
import type { Field } from '../../entities/entity-schema.js';
import type { AggregateRow } from '../declare/record-types.js';
import type { Aggregation } from '../query/aggregate-query.js';
import { compare, EVERYTHING, type Condition } from '../sql/condition.js';
import type { Resource } from '../plan/resource.js';
import { boundValues, parametersOf, RECORD } from '../sql/condition-sql.js';
import { linkValues, type LinkSelection } from '../sql/link-sql.js';
import { compileProjection, type Row } from './entity-projection.js';
import { aggregateRows } from './aggregation.js';
import { estimateRows } from './estimate.js';
import { activeLock, addCondition, addLock, addSort } from './query-parts.js';
import { findInBlocks, positionOf, selectPosition } from './positions.js';
import type { LinkedRecord, PositionedRecord, RecordReader, RowLock, Selection } from './record-access.js';
import { identityOf, joinLinks, linkedKeys } from './linked-rows.js';
import type { RawRow } from '../sql/statement.js';
import { joined } from './transactions.js';

export class RepositoryReader<T extends object> implements RecordReader<T> {
  private readonly projection: ReturnType<typeof compileProjection<T>>;

  constructor(
    private readonly resource: Resource<T>,
    private readonly injected: Repository<T>,
    private readonly dataSource: DataSource,
  ) {
    this.projection = compileProjection(resource.schema, resource.options.entity.prototype as object);
  }

  private get repository(): Repository<T> {
    return joined(this.injected, this.dataSource);
  }

  async find(selection: Selection): Promise<T[]> {
    const lock = selection.lock && activeLock(this.dataSource);
    const rows = await this.rows(this.sorted({ ...selection, lock }));
    return rows.map((row) => this.projection.recordOf(row, selection.fields));
  }

  findAfter(...args: Parameters<RecordReader<T>['findAfter']>): Promise<PositionedRecord<T>[]> {
    return findInBlocks(args, async (selection, keys) => {
      const query = this.sorted(selection);
      selectPosition(query, keys, this.dataSource);
      const rows = await this.rows(query);
      return rows.map((row) => ({
        record: this.projection.recordOf(row, selection.fields),
        position: positionOf(row.raw, keys),
      }));
    });
  }

  async findOne(condition: Condition, fields: readonly Field[], lock?: RowLock): Promise<T | undefined> {
    const [record] = await this.find({ condition, fields, sort: [], lock });
    return record;
  }

  async findLinked(links: LinkSelection, fields: readonly Field[]): Promise<LinkedRecord<T>[]> {
    const parameters = parametersOf(linkValues(links, this.dataSource));
    const query = joinLinks(this.select(EVERYTHING), links, parameters, this.dataSource);
    addSort(query, [{ field: links.related, descending: false }], this.dataSource);
    const { entities, raw } = await query.getRawAndEntities<RawRow>();
    const keys = linkedKeys(links, this.dataSource);
    const relatedOf = (row: RawRow): string => identityOf(keys.related(row));
    const distinct = new Map<string, RawRow>();
    // TypeORM makes one entity of the rows with one key.
    for (const row of raw) if (!distinct.has(relatedOf(row))) distinct.set(relatedOf(row), row);
    const rows = await this.paired(entities, [...distinct.values()]);
    const byKey = new Map([...distinct.keys()].map((key, index) => [key, rows[index]]));
    return raw.flatMap((each) => {
      const row = byKey.get(relatedOf(each));
      return row ? [{ owner: keys.owner(each), record: this.projection.recordOf(row, fields) }] : [];
    });
  }

  count(condition: Condition): Promise<number> {
    return this.query(condition).getCount();
  }

  estimate(): Promise<number | undefined> {
    return estimateRows(this.repository.createQueryBuilder(RECORD), this.dataSource);
  }

  exists(condition: Condition): Promise<boolean> {
    return this.query(condition).getExists();
  }

  aggregate(condition: Condition, aggregation: Aggregation, limit: number): Promise<AggregateRow[]> {
    return aggregateRows(this.query(condition), aggregation, limit, this.dataSource);
  }

  private sorted({ condition, fields, sort, range, lock }: Selection): SelectQueryBuilder<T> {
    const query = addLock(addSort(this.select(condition), sort, this.dataSource), lock);
    for (const { column, property } of fields) if (!column.isSelect) query.addSelect(`${RECORD}.${property}`);
    return range ? query.offset(range.offset).limit(range.limit) : query;
  }

  private query(condition: Condition): SelectQueryBuilder<T> {
    const query = this.repository.createQueryBuilder(RECORD);
    return addCondition(query, condition, parametersOf(boundValues(condition, this.dataSource)), this.dataSource);
  }

  private select(condition: Condition): SelectQueryBuilder<T> {
    const query = this.query(condition);
    this.projection.select(query);
    return query;
  }

  private async rows(query: SelectQueryBuilder<T>): Promise<Row<T>[]> {
    const { entities, raw } = await query.getRawAndEntities<RawRow>();
    const rows = await this.paired(entities, raw);
    return rows.filter((row) => row !== undefined);
  }

  private async paired(entities: readonly T[], raw: readonly RawRow[]): Promise<readonly (Row<T> | undefined)[]> {
    if (entities.length === raw.length) return entities.map((entity, index) => ({ entity, raw: raw[index] ?? {} }));
    // TypeORM merged two keys beyond 53 bits into one: each row is read again by its exact key.
    const rows = await Promise.all(raw.map((each) => this.rowOf(this.projection.keyOf(each))));
    return rows.map((row, index) => row && { entity: row.entity, raw: raw[index] ?? {} });
  }

  private async rowOf(key: unknown): Promise<Row<T> | undefined> {
    const [row] = await this.rows(this.select(compare(this.resource.schema.id, 'eq', key)));
    return row;
  }
}
