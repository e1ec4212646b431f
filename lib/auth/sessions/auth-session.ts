/** The table of sessions: one row from a login to its end. */
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { TIME } from '../../database/database-time.js';
import type { LoginClaims } from '../../http/caller.js';

const HASH = { type: 'varchar', length: 64 } as const;

/**
 * A session of a user. A session that has ended has no row. Refresh tokens are stored as SHA-256 only.
 *
 * Where entities are listed by hand instead of by `autoLoadEntities`, it must be in the list.
 */
@Entity('declarest_auth_session')
export class AuthSession {
  /** Random; the claim `sid` of access tokens. */
  @PrimaryColumn({ type: 'varchar', length: 32 })
  id!: string;

  /** The id of the user as text. */
  @Index()
  @Column({ type: 'varchar', length: 64 })
  userId!: string;

  /** SHA-256 of the current refresh token. */
  @Column(HASH)
  currentHash!: string;

  /** SHA-256 of the refresh token that was spent last. */
  @Column({ ...HASH, nullable: true })
  previousHash!: string | null;

  @Column({ ...TIME, nullable: true })
  rotatedAt!: number | null;

  @Column(TIME)
  createdAt!: number;

  @Column(TIME)
  lastUsedAt!: number;

  @Index()
  @Column(TIME)
  expiresAt!: number;

  @Column({ type: 'varchar', length: 255, nullable: true })
  userAgent!: string | null;

  @Column({ type: 'varchar', length: 45, nullable: true })
  address!: string | null;

  /** What its tokens say about the login. */
  @Column({ type: 'simple-json', nullable: true })
  login!: LoginClaims | null;
}
