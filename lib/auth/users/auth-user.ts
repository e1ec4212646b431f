import { BaseEntity, Column, PrimaryGeneratedColumn, type DataSource } from 'typeorm';
import { isMysql, isSqlite } from '../../entities/database-family.js';

/** Maximum lengths in characters, shared by the columns and the validation of input. */
export const USER_LIMITS = Object.freeze({ email: 254, username: 64, name: 100, role: 64 });

/**
 * Abstract TypeORM entity of a user. The application extends it and may add columns.
 * @example @Entity() export class User extends AuthUser {}
 */
export abstract class AuthUser extends BaseEntity {
  /** Generated 64-bit integer: a number while it is a safe integer, a string beyond. */
  @PrimaryGeneratedColumn()
  id!: number;

  /** Unique, trimmed and lower-cased (A to Z only). Required when users log in by e-mail. */
  @Column({ type: 'varchar', length: USER_LIMITS.email, unique: true, nullable: true })
  email!: string | null;

  /** Unique and case-sensitive. Required when users log in by username. */
  @Column({ type: 'varchar', length: USER_LIMITS.username, unique: true, nullable: true })
  username!: string | null;

  /**
   * bcrypt hash, which contains its own salt, or that of the `passwordHasher`. Queries return it only when they select it
   * explicitly.
   */
  @Column({ type: 'varchar', length: 255, select: false })
  password!: string;

  /** The one role of the user, which becomes the `roles` claim of its tokens. */
  @Column({ type: 'varchar', length: USER_LIMITS.role, default: 'USER' })
  role!: string;

  @Column({ type: 'varchar', length: USER_LIMITS.name, nullable: true })
  firstName!: string | null;

  @Column({ type: 'varchar', length: USER_LIMITS.name, nullable: true })
  lastName!: string | null;

  /** Inactive users cannot log in. */
  @Column({ type: 'boolean', default: true })
  active!: boolean;

  /**
   * Sets two column types that depend on the database, which no decorator can express (TypeORM issue 541). TypeORM calls
   * it on every Active Record class between building the metadata and creating the tables.
   * @internal
   */
  static override useDataSource(dataSource: DataSource | null): void {
    super.useDataSource(dataSource);
    if (!dataSource?.hasMetadata(this)) return;
    const { primaryColumns, columns } = dataSource.getMetadata(this);
    const [id] = primaryColumns;
    // SQLite generates only `integer` ids, which have 64 bits. Foreign keys have the type of the id that they reference.
    if (!isSqlite(dataSource))
      for (const column of dataSource.entityMetadatas.flatMap((metadata) => metadata.columns))
        if (column === id || column.referencedColumn === id) column.type = 'bigint';
    // MySQL compares text exactly only with a binary collation.
    const username = columns.find(({ propertyName }) => propertyName === 'username');
    if (username && isMysql(dataSource)) Object.assign(username, { charset: 'utf8mb4', collation: 'utf8mb4_bin' });
  }
}

/** A user to create: the login field, a password, and any other field. */
export interface NewUser {
  email?: string | null;
  username?: string | null;
  /** 8 characters to 72 bytes of UTF-8, or `maxBytes` of the `passwordHasher`; stored as a hash. */
  password: string;
  /** @default 'USER' */
  role?: string;
  firstName?: string | null;
  lastName?: string | null;
  /** @default true */
  active?: boolean;
  /** A column that the application's user class adds. */
  [column: string]: unknown;
}

export const profileOf = (
  { id, email, username, firstName, lastName, role, active }: AuthUser,
  { parseId }: { readonly parseId: (text: string) => string | number },
) => ({
  id: parseId(String(id)),
  email: email ?? null,
  username: username ?? null,
  firstName: firstName ?? null,
  lastName: lastName ?? null,
  role,
  active,
});
