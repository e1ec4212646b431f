/** Writes a resource through the methods of its repository: listeners and subscribers run. */
import { IsNull, type DataSource, type FindOptionsWhere, type Repository } from 'typeorm';
import type { Values } from '../../entities/record-input.js';
import type { Resource } from '../resource/resource.js';
import { entityOf, fill } from './entity-values.js';
import type { RecordReader, RecordWriter } from './record-access.js';

export class RepositoryWriter<T extends object> implements RecordWriter<T> {
  constructor(
    private readonly resource: Resource<T>,
    private readonly reader: RecordReader<T>,
    private readonly repository: Repository<T>,
    private readonly dataSource: DataSource,
  ) {}

  async insert(entity: T, values: Values): Promise<unknown> {
    const { identifiers } = await this.repository.insert(fill(entity, this.resource.schema, values) as never);
    return this.exactKey(identifiers[0]?.['id']);
  }

  async update(key: unknown, values: Values): Promise<void> {
    const { schema, options } = this.resource;
    if (values.some((value) => value !== undefined))
      await this.repository.update(keyed(key), fill(entityOf(options.entity, key), schema, values) as never);
  }

  /** The reader decides whether there is a record: a repository may restrict what it reads to one tenant. */
  async remove(key: unknown): Promise<boolean> {
    if (!(await this.reader.exists(key))) return false;
    if (this.hasRemoveListeners) return this.removeEntity(key);
    const { deleteDateColumn } = this.resource.metadata;
    const { affected } = await (deleteDateColumn
      ? this.repository.softDelete({ ...keyed<T>(key), [deleteDateColumn.propertyName]: IsNull() })
      : this.repository.delete(keyed(key)));
    return affected !== 0;
  }

  private get hasRemoveListeners(): boolean {
    const { metadata } = this.resource;
    const listeners = metadata.deleteDateColumn
      ? [metadata.beforeSoftRemoveListeners, metadata.afterSoftRemoveListeners]
      : [metadata.beforeRemoveListeners, metadata.afterRemoveListeners];
    return listeners.flat().length > 0;
  }

  /** Listeners are called with the entity, so it is loaded first. One statement needs no transaction. */
  private async removeEntity(key: unknown): Promise<boolean> {
    const entity = await this.repository.findOne({ where: keyed(key) });
    if (!entity) return false;
    await (this.resource.metadata.deleteDateColumn
      ? this.repository.softRemove(entity as never, { transaction: false })
      : this.repository.remove(entity, { transaction: false }));
    return true;
  }

  /** SQLite's driver rounds the key of a new row that is beyond 53 bits, but its connection still has it. */
  private async exactKey(key: unknown): Promise<unknown> {
    if (!this.resource.schema.id.readsAsText || typeof key !== 'number' || Number.isSafeInteger(key)) return key;
    const [row] = await this.dataSource.query<{ key: string }[]>('SELECT CAST(last_insert_rowid() AS TEXT) AS "key"');
    return row?.key;
  }
}

const keyed = <T>(key: unknown): FindOptionsWhere<T> => ({ id: key }) as FindOptionsWhere<T>;
