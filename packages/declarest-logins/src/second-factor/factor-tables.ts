/** The table of second factors. */
import { Column, Entity, PrimaryColumn } from 'typeorm';

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
