/** The tables of second factors, and of logins that wait for one. */
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { TIME } from 'declarest/plugin';

const ENCRYPTED = { type: 'varchar', length: 255, nullable: true } as const;

/** The second factor of a user. Each change is one statement on this row. */
@Entity('declarest_second_factor')
export class SecondFactor {
  /** The id of the user as text. */
  @PrimaryColumn({ type: 'varchar', length: 64 })
  userId!: string;

  /** Shared with the authenticator app, and encrypted. `null` until the first enrolment is confirmed. */
  @Column(ENCRYPTED)
  secret!: string | null;

  /** The secret of an enrolment that is not confirmed yet, encrypted. */
  @Column(ENCRYPTED)
  pending!: string | null;

  /** The time step of the code that was used last: no code of it, or of an earlier one, counts again. */
  @Column({ type: 'int', default: 0 })
  lastStep!: number;

  /** SHA-256 of each recovery code that is left, with a space behind each. */
  @Column({ type: 'varchar', length: 700, default: '' })
  codes!: string;
}

/** A login by the right password, until the second factor is given. The challenge is stored as SHA-256 only. */
@Entity('declarest_factor_challenge')
export class FactorChallenge {
  @PrimaryColumn({ type: 'varchar', length: 64 })
  hash!: string;

  /** The id of the user as text. */
  @Index()
  @Column({ type: 'varchar', length: 64 })
  userId!: string;

  /** SHA-256 of the password hash of the user: the challenge ends where the password changes. */
  @Column({ type: 'varchar', length: 64 })
  userHash!: string;

  /** How many codes were tried. */
  @Column({ type: 'int' })
  tries!: number;

  @Index()
  @Column(TIME)
  expiresAt!: number;
}
