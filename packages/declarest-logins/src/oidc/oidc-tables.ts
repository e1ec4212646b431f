/** The tables of logins that have begun, and of linked identities. */
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { TIME } from 'declarest/plugin';

const NAME = { type: 'varchar', length: 64 } as const;

/** A login at a provider that has begun, until it is finished or expires. */
@Entity('declarest_login_flow')
export class LoginFlow {
  /** SHA-256 of the `state`. */
  @PrimaryColumn(NAME)
  hash!: string;

  @Column(NAME)
  provider!: string;

  /** SHA-256 of the verifier that only the client has which began the login (RFC 7636). */
  @Column({ type: 'varchar', length: 43 })
  challenge!: string;

  @Column({ type: 'varchar', length: 43 })
  nonce!: string;

  @Column({ type: 'varchar', length: 255 })
  redirectUri!: string;

  /** The id of the user who links the identity, as text; `null` for a login. */
  @Index()
  @Column({ ...NAME, nullable: true })
  userId!: string | null;

  @Index()
  @Column(TIME)
  expiresAt!: number;
}

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
