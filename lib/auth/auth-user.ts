import { Column, PrimaryGeneratedColumn } from 'typeorm';
import { UserColumns } from './user-columns.js';

/** Lengths in characters, shared by the columns and the checks of what a client sends. */
export const USER_LIMITS = Object.freeze({ email: 254, username: 64, name: 100, role: 64 });

/** The user of the application extends it: `@Entity() class User extends AuthUser {}`, with columns of its own if any. */
export abstract class AuthUser extends UserColumns {
  /** 64 bits: a number while it is a safe integer. */
  @PrimaryGeneratedColumn()
  id!: number;

  /** Trimmed and lower-cased; required when users log in by e-mail. */
  @Column({ type: 'varchar', length: USER_LIMITS.email, unique: true, nullable: true })
  email!: string | null;

  /** Exact; required when users log in by username. */
  @Column({ type: 'varchar', length: USER_LIMITS.username, unique: true, nullable: true })
  username!: string | null;

  /** A bcrypt hash, which holds its own salt. In no response, and in no query that does not ask for it. */
  @Column({ type: 'varchar', length: 60, select: false })
  password!: string;

  @Column({ type: 'varchar', length: USER_LIMITS.role, default: 'USER' })
  role!: string;

  @Column({ type: 'varchar', length: USER_LIMITS.name, nullable: true })
  firstName!: string | null;

  @Column({ type: 'varchar', length: USER_LIMITS.name, nullable: true })
  lastName!: string | null;

  /** An inactive user cannot log in. */
  @Column({ type: 'boolean', default: true })
  active!: boolean;
}
