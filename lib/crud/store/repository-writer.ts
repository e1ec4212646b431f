/** Writes a resource through TypeORM's query builder and repository: listeners and subscribers run. */
import { IsNull, type DataSource, type Repository } from 'typeorm';
import type { Values } from '../../entities/record-input.js';
import { entityOf, fill } from './entity-values.js';
import type { RecordWriter } from './record-access.js';
import type { RepositoryReader } from './repository-reader.js';
import type { Resource } from '../resource/resource.js';

export class RepositoryWriter<T extends object> implements RecordWriter<T> {
  constructor(
    private readonly resource: Resource<T>,
    private readonly reader: RepositoryReader<T>,
    private readonly repository: Repository<T>,
    private readonly dataSource: DataSource,
  ) {}

  async insert(entity: T, values: Values): Promise<unknown> {
    const { identifiers } = await this.repository
      .createQueryBuilder()
      .insert()
      .values(fill(entity, this.resource.schema, values) as never)
      .execute();
    return this.exactKey(identifiers[0]?.['id']);
  }

  async update(key: unknown, values: Values): Promise<void> {
    const { schema, options } = this.resource;
    if (values.some((value) => value !== undefined))
      await this.repository
        .createQueryBuilder()
        .update()
        .set(fill(entityOf(options.entity, key), schema, values) as never)
        .where({ id: key })
        .execute();
  }

  async remove(key: unknown): Promise<boolean> {
    if (this.hasRemoveListeners) return this.removeEntity(key);
    const { deleteDateColumn } = this.repository.metadata;
    const query = this.repository.createQueryBuilder();
    const deletion = deleteDateColumn
      ? query.softDelete().where({ id: key, [deleteDateColumn.propertyName]: IsNull() })
      : query.delete().where({ id: key });
    const { affected } = await deletion.execute();
    return affected !== 0;
  }

  private get hasRemoveListeners(): boolean {
    const { metadata } = this.repository;
    const listeners = metadata.deleteDateColumn
      ? [metadata.beforeSoftRemoveListeners, metadata.afterSoftRemoveListeners]
      : [metadata.beforeRemoveListeners, metadata.afterRemoveListeners];
    return listeners.flat().length > 0;
  }

  /** Listeners are called with the entity, so it is loaded first. One statement needs no transaction. */
  private async removeEntity(key: unknown): Promise<boolean> {
    const row = await this.reader.row(key);
    if (!row) return false;
    const { deleteDateColumn } = this.repository.metadata;
    const [entities, options] = [[row.entity] as never[], { transaction: false }] as const;
    await (deleteDateColumn
      ? this.repository.softRemove(entities, options)
      : this.repository.remove(entities, options));
    return true;
  }

  /** SQLite's driver rounds the key of a new row that is beyond 53 bits, but its connection still has it. */
  private async exactKey(key: unknown): Promise<unknown> {
    if (!this.resource.schema.id.readsAsText || typeof key !== 'number' || Number.isSafeInteger(key)) return key;
    const [row] = await this.dataSource.query<{ key: string }[]>('SELECT CAST(last_insert_rowid() AS TEXT) AS "key"');
    return row?.key;
  }
}
