/** One data source of an application, with what is kept once for it. */
import type { DataSource, EntityMetadata } from 'typeorm';
import type { CallerRoles } from '../../http/principal.js';
import type { Connections } from '../../database/connections.js';
import { isMysql } from '../../entities/database-family.js';
import { describeEntity, type EntityDescription } from '../../entities/entity-schema.js';

export class Database {
  private readonly descriptions = new Map<EntityMetadata, EntityDescription>();
  private narrow: ReadonlySet<string> | undefined;

  constructor(
    readonly dataSource: DataSource,
    readonly connections: Connections,
    private readonly roles?: CallerRoles,
  ) {}

  /** MySQL and MariaDB do not compare a column with a text that its character set cannot hold. Must run before `describe`. */
  async readCharacterSets(): Promise<void> {
    if (this.narrow || !isMysql(this.dataSource)) return;
    const rows = (await this.dataSource.query(
      `SELECT LOWER(CONCAT(table_name, '.', column_name)) AS path FROM information_schema.columns ` +
        `WHERE table_schema = DATABASE() AND character_set_name <> 'utf8mb4'`,
    )) as readonly { readonly path: string }[];
    this.narrow = new Set(rows.map(({ path }) => path));
  }

  /** Described once: several resources may be related to one entity. */
  readonly describe = (metadata: EntityMetadata): EntityDescription => {
    const known = this.descriptions.get(metadata) ?? describeEntity(metadata, this.dataSource, this.narrow, this.roles);
    this.descriptions.set(metadata, known);
    return known;
  };
}
