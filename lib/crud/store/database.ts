/** One data source of an application, with what is kept once for it. */
import type { DataSource, EntityMetadata } from 'typeorm';
import { isSqlite } from '../../entities/database-family.js';
import { describeEntity, type EntityDescription } from '../../entities/entity-schema.js';
import { ConnectionLock } from './connection-lock.js';

export class Database {
  /** Only on SQLite, where a data source has one connection. */
  readonly lock: ConnectionLock | undefined;
  private readonly descriptions = new Map<EntityMetadata, EntityDescription>();

  constructor(readonly dataSource: DataSource) {
    this.lock = isSqlite(dataSource) ? new ConnectionLock() : undefined;
  }

  /** Described once: several resources may be related to one entity. */
  readonly describe = (metadata: EntityMetadata): EntityDescription => {
    const known = this.descriptions.get(metadata) ?? describeEntity(metadata, this.dataSource);
    this.descriptions.set(metadata, known);
    return known;
  };
}
