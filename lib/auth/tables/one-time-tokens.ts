/** Tokens that a client sends back once, such as that of a mailed link: one table for all of them. */
import { Injectable } from '@nestjs/common';
import { Column, Entity, In, Index, LessThan, PrimaryColumn } from 'typeorm';
import { TIME } from '../../database/database-time.js';
import { AccountTables } from './account-tables.js';
import { hashOf, isToken, newToken } from './secret-tokens.js';

/**
 * A token until it is used or expires. It is stored as SHA-256 only.
 *
 * Where entities are listed by hand instead of by `autoLoadEntities`, it must be in the list.
 */
@Entity('declarest_one_time_token')
export class OneTimeToken {
  @PrimaryColumn({ type: 'varchar', length: 64 })
  hash!: string;

  @Column({ type: 'varchar', length: 32 })
  purpose!: string;

  /** The id of the user as text; empty where the token belongs to nobody yet. */
  @Index()
  @Column({ type: 'varchar', length: 64 })
  userId!: string;

  /** What the plugin keeps with the token. */
  @Column({ type: 'simple-json' })
  data!: unknown;

  /** How often what the token is sent with was wrong. */
  @Column({ type: 'int' })
  tries!: number;

  @Index()
  @Column(TIME)
  expiresAt!: number;
}

/** A token of the database, with the data of its purpose. */
export type StoredToken<D> = OneTimeToken & { readonly data: D };

/** What a token is made with. */
export interface NewToken<D> {
  /** @default a token of nobody */
  readonly userId?: string;
  readonly lifetimeMs: number;
  readonly data: D;
}

/**
 * Single-use tokens of a plugin, which lists `OneTimeToken` in its `tables`: without it, the application does not start. Times are those of the database.
 * @example
 * const token = await tokens.create('magicLink', { userId: String(user.id), lifetimeMs: 15 * 60_000, data: {} });
 * const found = await tokens.find(token, 'magicLink');
 * if (!found || !(await tokens.spend(found))) throw new UnauthorizedException('This link is not valid');
 */
@Injectable()
export class OneTimeTokens {
  constructor(private readonly tables: AccountTables) {}

  /** @returns the token: 256 random bits in base64url, which are stored nowhere */
  async create<D>(purpose: string, { userId = '', lifetimeMs, data }: NewToken<D>): Promise<string> {
    const token = newToken();
    const row = { hash: hashOf(token), purpose, userId, data, tries: 0, expiresAt: this.tables.within(lifetimeMs) };
    await this.tables.insert(OneTimeToken, row);
    return token;
  }

  /** What cannot be a token needs no query. @returns `undefined` where it was used, has expired, or has another purpose */
  async find<D>(token: string, ...purposes: string[]): Promise<StoredToken<D> | undefined> {
    if (!isToken(token)) return undefined;
    const where = { hash: hashOf(token), purpose: In(purposes), expiresAt: this.tables.after(0) };
    return (await this.tables.findOne(OneTimeToken, where)) as StoredToken<D> | undefined;
  }

  /** @returns whether this request is the one that uses it */
  async spend({ hash }: Pick<OneTimeToken, 'hash'>): Promise<boolean> {
    return (await this.tables.remove(OneTimeToken, { hash })) === 1;
  }

  /** Puts a token back, where the change that it was spent for has failed. */
  async restore(token: OneTimeToken): Promise<void> {
    await this.tables.insert(OneTimeToken, token);
  }

  /** Counts a try before what was sent is checked, so that parallel guesses count too. @returns whether it is one of the most */
  async countTry({ hash }: Pick<OneTimeToken, 'hash'>, most: number): Promise<boolean> {
    const where = { hash, tries: LessThan(most) };
    return (await this.tables.update(OneTimeToken, where, { tries: () => 'tries + 1' })) === 1;
  }

  /** Ends the tokens of a user for these purposes. */
  async removeAll(userId: string, ...purposes: string[]): Promise<void> {
    await this.tables.remove(OneTimeToken, { userId, purpose: In(purposes) });
  }
}
