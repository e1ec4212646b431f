/** The table of verified addresses. */
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The address that a user has confirmed. A user with another address is not verified. */
@Entity('declarest_verified_email')
export class VerifiedEmail {
  /** The id of the user as text. */
  @PrimaryColumn({ type: 'varchar', length: 64 })
  userId!: string;

  @Column({ type: 'varchar', length: 254 })
  email!: string;
}
