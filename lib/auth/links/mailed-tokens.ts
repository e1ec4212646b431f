/** The tables of tokens that were sent by mail, and of verified addresses. */
import { Injectable } from '@nestjs/common';
import { Column, Entity, In, Index, MoreThan, PrimaryColumn } from 'typeorm';
import { TIME } from '../../database/database-time.js';
import type { AccountChange } from '../plugins/plugin.js';
import { hashOf, isToken, newToken } from '../tokens/secret-tokens.js';
import { AccountTables } from '../users/account-tables.js';
import type { AuthUser } from '../users/auth-user.js';

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

const HOUR_MS = 60 * 60 * 1000;
const lifetimeOf = (purpose: TokenPurpose): number => (purpose === 'reset' ? HOUR_MS : 24 * HOUR_MS);

/** Whom a token is for, including the password hash. */
export type Addressee = Pick<AuthUser, 'email' | 'password'> & { readonly id: string | number };

@Injectable()
export class MailedTokens {
  constructor(private readonly tables: AccountTables) {}

  /** @param email the address to verify, or to mail the token to @returns the token, which is stored nowhere */
  async create(purpose: TokenPurpose, { id, email: userEmail, password }: Addressee, email: string): Promise<string> {
    const token = newToken();
    // The token for an unknown address is stored expired, so that both cases run the same statements.
    const expiresAt = Date.now() + (id === '' ? 0 : lifetimeOf(purpose));
    const of = { userId: String(id), userEmail, userHash: hashOf(password) };
    const row = { ...of, hash: hashOf(token), purpose, email, expiresAt };
    await this.tables.run((manager) => manager.insert(AccountToken, row));
    return token;
  }

  /** What cannot be a token needs no query. @returns `undefined` where it was used, has expired, or has another purpose */
  async find(token: string, ...purposes: TokenPurpose[]): Promise<AccountToken | undefined> {
    if (!isToken(token)) return undefined;
    const where = { hash: hashOf(token), purpose: In(purposes), expiresAt: MoreThan(Date.now()) };
    return this.tables.findOne(AccountToken, where);
  }

  /** @returns whether this request is the one that uses it */
  async spend({ hash }: Pick<AccountToken, 'hash'>): Promise<boolean> {
    const { affected } = await this.tables.run((manager) => manager.delete(AccountToken, { hash }));
    return affected === 1;
  }

  /** Puts a token back, where the change that it was spent for failed. */
  async restore(token: AccountToken): Promise<void> {
    await this.tables.run((manager) => manager.insert(AccountToken, token));
  }

  async isVerified({ id, email }: Omit<Addressee, 'password'>): Promise<boolean> {
    const row = await this.tables.findOne(VerifiedEmail, { userId: String(id) });
    return email !== null && row?.email === email;
  }

  async markVerified(userId: string, email: string): Promise<void> {
    await this.tables.run((manager) => manager.upsert(VerifiedEmail, { userId, email }, ['userId']));
  }

  /** Ends the links that a change of the account outdates. */
  async follow(change: AccountChange): Promise<void> {
    const { name, userId } = change;
    if (name === 'user.changed' && change.fields.active !== false) return;
    if (name !== 'user.created' && name !== 'user.loggedOut')
      await this.tables.run((manager) => manager.delete(AccountToken, { userId }));
    if (name === 'user.deleted') await this.tables.run((manager) => manager.delete(VerifiedEmail, { userId }));
    // A new address counts when its link was used.
    if ((name === 'user.created' || name === 'email.changed') && change.user.email !== null)
      await this.markVerified(userId, change.user.email);
  }
}
