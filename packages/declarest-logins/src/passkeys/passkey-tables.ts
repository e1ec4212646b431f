/** The table of passkeys. */
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { TIME } from 'declarest/plugin';

const HASH = { type: 'varchar', length: 64 } as const;
const USER_ID = { type: 'varchar', length: 64 } as const;
/** Base64url of 32 bytes. */
const HANDLE = { type: 'varchar', length: 43 } as const;

/** A passkey of a user. Only the authenticator has its private key. */
@Entity('declarest_passkey')
export class Passkey {
  /** SHA-256 of `credentialId`, which is too long for an index. */
  @PrimaryColumn(HASH)
  id!: string;

  /** The id of the user as text. */
  @Index()
  @Column(USER_ID)
  userId!: string;

  /** Base64url of at most 1,023 bytes. */
  @Column({ type: 'varchar', length: 1364 })
  credentialId!: string;

  /** The random id by which the authenticator knows the user. */
  @Column(HANDLE)
  handle!: string;

  /** The COSE key in base64url. */
  @Column({ type: 'varchar', length: 2048 })
  publicKey!: string;

  /** How often the authenticator says that it has signed; 0 where it does not count. */
  @Column(TIME)
  counter!: number;

  /** How browsers reach the authenticator, such as `internal,hybrid`. */
  @Column({ type: 'varchar', length: 100 })
  transports!: string;

  /** Whether it is synchronized, so that the loss of a device does not lose it. */
  @Column({ type: 'boolean' })
  backedUp!: boolean;

  @Column({ type: 'varchar', length: 64 })
  name!: string;

  @Column(TIME)
  createdAt!: number;

  @Column({ ...TIME, nullable: true })
  lastUsedAt!: number | null;
}
