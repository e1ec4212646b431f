/** Writes a resource through the methods of its repository: listeners and subscribers run. */
import type { DataSource, FindOptionsWhere, Repository } from 'typeorm';
import type { Values } from '../../entities/record-input.js';
import type { Condition } from '../sql/condition.js';
import type { Resource } from '../plan/resource.js';
import { entityOf, fill } from './entity-values.js';
import { whereOf } from './query-parts.js';
import type { NewRow, RecordReader, RecordWriter } from './record-access.js';
import { joined } from './transactions.js';

export class RepositoryWriter<T extends object> implements RecordWriter<T> {
  constructor(
    private readonly resource: Resource<T>,
    private readonly reader: RecordReader<T>,
    private readonly injected: Repository<T>,
    private readonly dataSource: DataSource,
  ) {}

  private get repository(): Repository<T> {
    return joined(this.injected, this.dataSource);
  }

  async insert(rows: readonly NewRow<T>[]): Promise<readonly unknown[]> {
    const keys: unknown[] = [];
    for (const { entity, values } of rows) {
      const { identifiers } = await this.repository.insert(fill(entity, this.resource.schema, values) as never);
      keys.push(await this.exactKey(identifiers[0]?.['id']));
    }
    return keys;
  }

  async update(key: unknown, condition: Condition, values: Values): Promise<boolean> {
    const { schema, options } = this.resource;
    const entity = fill(entityOf(options.entity, key), schema, values);
    const { affected } = await this.repository.update(this.where(condition), entity as never);
    return affected !== 0;
  }

  /** The reader decides whether there is a record: a repository may restrict what it reads to one tenant. */
  async remove(key: unknown, condition: Condition, purges: boolean): Promise<boolean> {
    const isSoft = !purges && this.resource.metadata.deleteDateColumn !== undefined;
    if (this.hasListeners(isSoft ? 'soft-remove' : 'remove')) {
      const entity = await this.entityOf(key, condition);
      const options = { transaction: false };
      if (entity)
        await (isSoft ? this.repository.softRemove(entity as never, options) : this.repository.remove(entity, options));
      return entity !== null;
    }
    if (!(await this.reader.exists(condition))) return false;
    const where = this.where(condition);
    const { affected } = await (isSoft ? this.repository.softDelete(where) : this.repository.delete(where));
    return affected !== 0;
  }

  async restore(key: unknown, condition: Condition): Promise<boolean> {
    if (!this.hasListeners('recover')) {
      const { affected } = await this.repository.restore(this.where(condition));
      return affected !== 0;
    }
    const entity = await this.entityOf(key, condition);
    if (entity) await this.repository.recover(entity as never, { transaction: false });
    return entity !== null;
  }

  private where(condition: Condition): FindOptionsWhere<T> {
    return whereOf(condition, this.dataSource, this.resource.metadata);
  }

  private hasListeners(event: 'remove' | 'soft-remove' | 'recover'): boolean {
    return this.resource.metadata.listeners.some(({ type }) => type === `before-${event}` || type === `after-${event}`);
  }

  /** Listeners are called with the entity, so it is loaded first. Its row is locked, so that the condition stays true. */
  private async entityOf(key: unknown, condition: Condition): Promise<T | null> {
    if (!(await this.reader.findOne(condition, [this.resource.schema.id], 'for update'))) return null;
    return this.repository.findOne({ where: { id: key } as FindOptionsWhere<T>, withDeleted: true });
  }

  /** SQLite's driver rounds the key of a new row that is beyond 53 bits, but its connection still has it. */
  private async exactKey(key: unknown): Promise<unknown> {
    if (!this.resource.schema.id.readsAsText || typeof key !== 'number' || Number.isSafeInteger(key)) return key;
    const [row] = await this.dataSource.query<{ key: string }[]>('SELECT CAST(last_insert_rowid() AS TEXT) AS "key"');
    return row?.key;
  }
}
