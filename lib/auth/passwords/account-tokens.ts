/** The statements on tokens that were sent by mail, and on verified addresses. */
import { Injectable } from '@nestjs/common';
import { In, MoreThan } from 'typeorm';
import { AccountTables } from '../account-tables.js';
import type { AuthUser } from '../auth-user.js';
import { hashOf, isToken, newToken } from '../secret-tokens.js';
import { AccountToken, type TokenPurpose } from './account-token.js';
import { VerifiedEmail } from './verified-email.js';

const HOUR_MS = 60 * 60 * 1000;
const LIFETIME_MS: Readonly<Record<TokenPurpose, number>> = {
  reset: HOUR_MS,
  verify: 24 * HOUR_MS,
  email: 24 * HOUR_MS,
};

@Injectable()
export class AccountTokens {
  constructor(private readonly tables: AccountTables) {}

  /** @returns the token, which is stored nowhere */
  async create(purpose: TokenPurpose, userId: string, email: string): Promise<string> {
    const token = newToken();
    const row = { hash: hashOf(token), userId, purpose, email, expiresAt: Date.now() + LIFETIME_MS[purpose] };
    await this.tables.run((manager) => manager.insert(AccountToken, row));
    return token;
  }

  /** What cannot be a token needs no query. @returns `undefined` where it was used, has expired, or has another purpose */
  async find(token: string, ...purposes: TokenPurpose[]): Promise<AccountToken | undefined> {
    if (!isToken(token)) return undefined;
    const where = { hash: hashOf(token), purpose: In(purposes), expiresAt: MoreThan(Date.now()) };
    return (await this.tables.run((manager) => manager.findOneBy(AccountToken, where))) ?? undefined;
  }

  /** @returns whether this request is the one that uses it */
  async spend({ hash }: AccountToken): Promise<boolean> {
    const { affected } = await this.tables.run((manager) => manager.delete(AccountToken, { hash }));
    return affected === 1;
  }

  /** Puts a token back, where the change that it was spent for failed. */
  async restore(token: AccountToken): Promise<void> {
    await this.tables.run((manager) => manager.insert(AccountToken, token));
  }

  async removeAll(userId: string): Promise<void> {
    await this.tables.run((manager) => manager.delete(AccountToken, { userId }));
  }

  async isVerified({ id, email }: AuthUser): Promise<boolean> {
    const userId = String(id);
    const row = await this.tables.run((manager) => manager.findOneBy(VerifiedEmail, { userId }));
    return email !== null && row?.email === email;
  }

  async markVerified(userId: string, email: string): Promise<void> {
    await this.tables.run((manager) => manager.upsert(VerifiedEmail, { userId, email }, ['userId']));
  }

  /** Of a user who was deleted. */
  async forget(userId: string): Promise<void> {
    await this.removeAll(userId);
    await this.tables.run((manager) => manager.delete(VerifiedEmail, { userId }));
  }
}
