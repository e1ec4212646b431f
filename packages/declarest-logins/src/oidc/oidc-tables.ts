/** The table of linked identities. */
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { TIME } from 'declarest/plugin';

const NAME = { type: 'varchar', length: 64 } as const;

/**
 * An identity at a provider with which a user logs in. A link that was removed stays as a row, so that no login creates it
 * anew.
 */
@Entity('declarest_external_identity')
export class ExternalIdentity {
  /** SHA-256 of the issuer and the subject: databases may compare text without case, and subjects have case. */
  @PrimaryColumn(NAME)
  id!: string;

  /** The id of the user as text. */
  @Index()
  @Column(NAME)
  userId!: string;

  @Column(NAME)
  provider!: string;

  @Column({ type: 'varchar', length: 255 })
  issuer!: string;

  @Column({ type: 'varchar', length: 255 })
  subject!: string;

  /** The verified address at the provider when it was linked, for the user to recognize it. */
  @Column({ type: 'varchar', length: 254, nullable: true })
  email!: string | null;

  @Column({ type: 'boolean' })
  isLinked!: boolean;

  @Column(TIME)
  linkedAt!: number;
}
