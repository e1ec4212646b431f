/** The table of API keys: one row from the creation of a key to its end. */
import { Column, Entity, Index, PrimaryColumn, Unique } from 'typeorm';
import { TIME } from 'declarest/plugin';

/**
 * An API key of a user. A key that has ended has no row. It is stored as SHA-256 only.
 *
 * Where entities are listed by hand instead of by `autoLoadEntities`, it must be in the list.
 */
@Entity('declarest_api_key')
@Unique(['userId', 'slot'])
export class ApiKey {
  @PrimaryColumn({ type: 'varchar', length: 32 })
  id!: string;

  /** The id of the user as text. */
  @Column({ type: 'varchar', length: 64 })
  userId!: string;

  /** A number below the most keys of a user: of requests at once, one gets it. */
  @Column({ type: 'int' })
  slot!: number;

  @Column({ type: 'varchar', length: 64, unique: true })
  hash!: string;

  /** The first characters of the key, by which its user knows it. */
  @Column({ type: 'varchar', length: 16 })
  prefix!: string;

  @Column({ type: 'varchar', length: 64 })
  name!: string;

  /** Roles chosen at creation. At use, the key has those that its user still has. */
  @Column({ type: 'simple-json' })
  roles!: readonly string[];

  @Column(TIME)
  createdAt!: number;

  @Column({ ...TIME, nullable: true })
  lastUsedAt!: number | null;

  @Index()
  @Column({ ...TIME, nullable: true })
  expiresAt!: number | null;
}
