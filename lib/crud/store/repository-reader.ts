/** Reads a resource through TypeORM's query builder, which hydrates entities: listeners and transformers run. */
import type { Repository, SelectQueryBuilder } from 'typeorm';
import type { Term } from '../query/list-query.js';
import { addSearchConditions, PARAMETER, RECORD } from '../query/search-conditions.js';
import type { Resource } from '../resource/resource.js';
import { compileProjection, type Row } from './entity-projection.js';
import type { Range, RecordReader } from './record-access.js';

export class RepositoryReader<T extends object> implements RecordReader<T> {
  private readonly projection: ReturnType<typeof compileProjection<T>>;

  constructor(
    private readonly resource: Resource<T>,
    private readonly repository: Repository<T>,
  ) {
    this.projection = compileProjection(resource.schema, resource.options.entity.prototype as object);
  }

  async find(terms: readonly Term[], range?: Range): Promise<T[]> {
    const query = addSearchConditions(this.select(), this.resource, terms).orderBy(`${RECORD}.id`, 'ASC');
    const rows = await this.rows(range ? query.offset(range.offset).limit(range.limit) : query);
    return rows.map(this.projection.recordOf);
  }

  count(terms: readonly Term[]): Promise<number> {
    return addSearchConditions(this.repository.createQueryBuilder(RECORD), this.resource, terms).getCount();
  }

  async findByKey(key: unknown): Promise<T | undefined> {
    const row = await this.rowOf(key);
    return row && this.projection.recordOf(row);
  }

  exists(key: unknown): Promise<boolean> {
    const query = this.repository.createQueryBuilder(RECORD);
    return query.andWhere(`${RECORD}.id = :${PARAMETER}`, { [PARAMETER]: key }).getExists();
  }

  private async rowOf(key: unknown): Promise<Row<T> | undefined> {
    const [found] = await this.rows(this.select().andWhere(`${RECORD}.id = :${PARAMETER}`, { [PARAMETER]: key }));
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
    // TypeORM merged two keys beyond 53 bits into one: each row is read again by its exact key.
    const rows = await Promise.all(raw.map((each) => this.rowOf(this.projection.keyOf(each))));
    return rows.filter((row) => row !== undefined);
  }
}
