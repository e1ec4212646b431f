/** The statements that read a resource. */
import type { DataSource, Repository, SelectQueryBuilder } from 'typeorm';
import type { ListMetadata } from './envelope.js';
import type { ListRequest, Page, Term } from './list-query.js';
import type { Projection, Row } from './projection.js';
import type { Resource } from './resource.js';
import { containing, containsExpression } from './text-search.js';

const RECORD = 'record';

export interface Listed<T> {
  readonly records: T[];
  readonly metadata?: ListMetadata;
}

export class RecordReader<T extends object> {
  private readonly repository: Repository<T>;
  private readonly contains: ReturnType<typeof containsExpression>;

  constructor(
    private readonly resource: Resource<T>,
    private readonly projection: Projection<T>,
    private readonly dataSource: DataSource,
  ) {
    this.repository = dataSource.getRepository(resource.options.entity);
    this.contains = containsExpression(dataSource.options.type);
  }

  /** In the order of the primary key. */
  list({ page, terms }: ListRequest): Promise<Listed<T>> {
    const query = this.select().orderBy(`${RECORD}.id`, 'ASC');
    for (const [index, term] of terms.entries()) this.addTerm(query, term, `term${index}`);
    return page ? this.page(query, page) : this.whole(query);
  }

  async one(key: unknown): Promise<Row<T> | undefined> {
    const [found] = await this.rows(this.select().where(`${RECORD}.id = :key`, { key }));
    return found;
  }

  exists(key: unknown): Promise<boolean> {
    return this.repository.createQueryBuilder(RECORD).where(`${RECORD}.id = :key`, { key }).getExists();
  }

  /** SQLite's driver rounds the key of a new row that is beyond 53 bits; its connection still knows it. */
  async exactKey(key: unknown): Promise<unknown> {
    if (!this.resource.schema.id.readsAsText || typeof key !== 'number' || Number.isSafeInteger(key)) return key;
    const [row] = await this.dataSource.query<{ key: string }[]>('SELECT CAST(last_insert_rowid() AS TEXT) AS "key"');
    return row?.key;
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
    const rows = await Promise.all(raw.map((each) => this.one(this.projection.keyOf(each))));
    return rows.filter((row) => row !== undefined);
  }

  private async page(query: SelectQueryBuilder<T>, { page, size }: Page): Promise<Listed<T>> {
    const total = await query.getCount();
    const rows = await this.rows(query.offset((page - 1) * size).limit(size));
    return {
      records: rows.map(this.projection.recordOf),
      metadata: { pagination: { page, size, total, totalPages: Math.ceil(total / size) } },
    };
  }

  private async whole(query: SelectQueryBuilder<T>): Promise<Listed<T>> {
    const most = this.resource.options.maxListSize;
    const rows = await this.rows(most === undefined ? query : query.limit(most + 1));
    const records = rows.slice(0, most).map(this.projection.recordOf);
    return most === undefined ? { records } : { records, metadata: { truncated: rows.length > most } };
  }

  private addTerm(query: SelectQueryBuilder<T>, { field, text }: Term, parameter: string): void {
    const { searchable } = this.resource;
    const fields = [...searchable].filter(([name]) => field === undefined || name === field).map(([, each]) => each);
    const found = fields.map(({ property }) => this.contains(`${RECORD}.${property}`, `:${parameter}`));
    query.andWhere(`(${found.join(' OR ')})`, { [parameter]: containing(text) });
  }
}
