/** Reads a resource through TypeORM's query builder, which hydrates entities: listeners and transformers run. */
import type { DataSource, Repository, SelectQueryBuilder } from 'typeorm';
import type { ListRequest, Page } from './list-query.js';
import { compileProjection, type Projection, type Row } from './projection.js';
import { pagination } from './envelope.js';
import { PARAMETER, RECORD, selectMatching } from './record-selection.js';
import type { Listed, RecordReader } from './record-store.js';
import type { Resource } from './resource.js';
import { alreadyRead, type UnreadRecord } from './unread.js';

export class RepositoryReader<T extends object> implements RecordReader<T> {
  private readonly repository: Repository<T>;
  private readonly projection: Projection<T>;

  constructor(
    private readonly resource: Resource<T>,
    dataSource: DataSource,
  ) {
    this.repository = dataSource.getRepository(resource.options.entity);
    this.projection = compileProjection(resource.schema, resource.options.entity.prototype as object);
  }

  list({ page, terms }: ListRequest): Promise<Listed<T>> {
    const query = selectMatching(this.select(), this.resource, terms).orderBy(`${RECORD}.id`, 'ASC');
    return page ? this.page(query, page) : this.whole(query);
  }

  async one(key: unknown): Promise<UnreadRecord<T> | undefined> {
    const row = await this.row(key);
    if (!row) return undefined;
    const record = this.projection.recordOf(row);
    return { ...alreadyRead(record), id: () => (record as { id: string | number }).id };
  }

  exists(key: unknown): Promise<boolean> {
    return this.repository
      .createQueryBuilder(RECORD)
      .where(`${RECORD}.id = :${PARAMETER}`, { [PARAMETER]: key })
      .getExists();
  }

  /** With the entity, for what is done with one. */
  async row(key: unknown): Promise<Row<T> | undefined> {
    const [found] = await this.rows(this.select().where(`${RECORD}.id = :${PARAMETER}`, { [PARAMETER]: key }));
    return found;
  }

  private select(): SelectQueryBuilder<T> {
    const query = this.repository.createQueryBuilder(RECORD);
    this.projection.select(query);
    return query;
  }

  private async rows(query: SelectQueryBuilder<T>): Promise<Row<T>[]> {
    const { entities, raw } = await query.getRawAndEntities<Record<string, unknown>>();
    if (entities.length === raw.length) return entities.map((entity, index) => ({ entity, raw: raw[index] ?? {} }));
    // TypeORM took two keys beyond 53 bits for one: each row is asked for by its exact key.
    const rows = await Promise.all(raw.map((each) => this.row(this.projection.keyOf(each))));
    return rows.filter((row) => row !== undefined);
  }

  private async page(query: SelectQueryBuilder<T>, page: Page): Promise<Listed<T>> {
    const total = await query.getCount();
    const rows = await this.rows(query.offset((page.page - 1) * page.size).limit(page.size));
    return { records: alreadyRead(rows.map(this.projection.recordOf)), metadata: pagination(page, total) };
  }

  private async whole(query: SelectQueryBuilder<T>): Promise<Listed<T>> {
    const most = this.resource.options.maxListSize;
    const rows = await this.rows(most === undefined ? query : query.limit(most + 1));
    const records = alreadyRead(rows.slice(0, most).map(this.projection.recordOf));
    return most === undefined ? { records } : { records, metadata: { truncated: rows.length > most } };
  }
}
