/** The tables of mailed links: the tokens that were sent, and the addresses that were confirmed. */
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { TIME } from '../../database/database-time.js';

/** `reset`: a new password. `verify`: the address that the user has. `email`: a new address. */
export type TokenPurpose = 'reset' | 'verify' | 'email';

/** A token that was mailed to a user, until it is used or expires. It is stored as SHA-256 only. */
@Entity('declarest_account_token')
export class AccountToken {
  @PrimaryColumn({ type: 'varchar', length: 64 })
  hash!: string;

  /** The id of the user as text. */
  @Index()
  @Column({ type: 'varchar', length: 64 })
  userId!: string;

  @Column({ type: 'varchar', length: 10 })
  purpose!: TokenPurpose;

  /** The address that it was sent to. */
  @Column({ type: 'varchar', length: 254 })
  email!: string;

  /** The address that the user had then: the token ends where that changes. */
  @Column({ type: 'varchar', length: 254, nullable: true })
  userEmail!: string | null;

  /** SHA-256 of the password hash that the user had then: the token ends where the password changes. */
  @Column({ type: 'varchar', length: 64, nullable: true })
  userHash!: string | null;

  @Index()
  @Column(TIME)
  expiresAt!: number;
}

/** The address that a user has confirmed. A user with another address is not verified. */
@Entity('declarest_verified_email')
export class VerifiedEmail {
  /** The id of the user as text. */
  @PrimaryColumn({ type: 'varchar', length: 64 })
  userId!: string;

  @Column({ type: 'varchar', length: 254 })
  email!: string;
}
