/** The table of stored answers: one row for each `Idempotency-Key` of a user and a path. */
import { BaseEntity, Column, Entity, Index, PrimaryColumn, type DataSource } from 'typeorm';
import { TIME } from '../../database/database-time.js';
import { isMysql } from '../../entities/database-family.js';

/** A stored answer. Active Record, because TypeORM calls `useDataSource` on such classes only. */
@Entity('declarest_idempotency_key')
export class IdempotencyKey extends BaseEntity {
  /** SHA-256 of user, path and key: two requests with one key cannot both insert it. */
  @PrimaryColumn({ type: 'varchar', length: 64 })
  id!: string;

  /** SHA-256 of query string and body. */
  @Column({ type: 'varchar', length: 64 })
  request!: string;

  /** Never null outside of the transaction that writes the row. */
  @Column({ type: 'int', nullable: true })
  status!: number | null;

  @Column({ type: 'text', nullable: true })
  body!: string | null;

  @Column({ type: 'varchar', length: 255, nullable: true })
  etag!: string | null;

  @Index()
  @Column(TIME)
  expiresAt!: number;

  /**
   * `text` of MySQL ends at 64 kB. TypeORM calls it between building the metadata and creating the tables.
   * @internal
   */
  static override useDataSource(dataSource: DataSource | null): void {
    super.useDataSource(dataSource);
    if (!dataSource || !isMysql(dataSource) || !dataSource.hasMetadata(this)) return;
    const body = dataSource.getMetadata(this).findColumnWithPropertyName('body');
    if (body) Object.assign(body, { type: 'longtext', charset: 'utf8mb4' });
  }
}
