/** The statements on the table of sessions. Each change is one statement that says what it expects of the row. */
import { Injectable } from '@nestjs/common';
import { MoreThan, Not, type FindOptionsWhere } from 'typeorm';
import { AccountTables } from '../account-tables.js';
import { AuthSession } from './auth-session.js';

/** What a list of sessions shows at most; the ones used last come first. */
const MAX_LISTED = 100;

@Injectable()
export class SessionStore {
  constructor(private readonly tables: AccountTables) {}

  async insert(session: AuthSession): Promise<void> {
    await this.tables.run((manager) => manager.insert(AuthSession, session));
  }

  /** @returns `undefined` where it has ended or expired */
  async find(id: string): Promise<AuthSession | undefined> {
    const where = { id, expiresAt: MoreThan(Date.now()) };
    return (await this.tables.run((manager) => manager.findOneBy(AuthSession, where))) ?? undefined;
  }

  listOf(userId: string): Promise<AuthSession[]> {
    const where = { userId, expiresAt: MoreThan(Date.now()) };
    const options = { where, order: { lastUsedAt: 'DESC', id: 'ASC' }, take: MAX_LISTED } as const;
    return this.tables.run((manager) => manager.find(AuthSession, options));
  }

  /** Replaces the refresh token. @returns whether it was the current one */
  rotate(id: string, spent: string, next: string, expiresAt: number): Promise<boolean> {
    const now = Date.now();
    const change = {
      currentHash: next,
      previousHash: spent,
      rotatedAt: now,
      isRepeated: false,
      lastUsedAt: now,
      expiresAt,
    };
    return this.change({ id, currentHash: spent, expiresAt: MoreThan(now) }, change);
  }

  /** Uses the token that was spent last a second time. @returns whether that was allowed */
  repeat(id: string, spent: string, next: string, rotatedAfter: number): Promise<boolean> {
    const where = { id, previousHash: spent, currentHash: next, isRepeated: false, rotatedAt: MoreThan(rotatedAfter) };
    return this.change({ ...where, expiresAt: MoreThan(Date.now()) }, { isRepeated: true });
  }

  /** @returns whether there was one */
  async remove(id: string): Promise<boolean> {
    return (await this.removeWhere({ id })) > 0;
  }

  /** @returns whether the user has such a session */
  async removeOwn(userId: string, id: string): Promise<boolean> {
    return (await this.removeWhere({ userId, id })) > 0;
  }

  /** @param kept the session that stays @returns how many have ended */
  removeAll(userId: string, kept?: string): Promise<number> {
    return this.removeWhere({ userId, ...(kept !== undefined && { id: Not(kept) }) });
  }

  private async change(where: FindOptionsWhere<AuthSession>, to: Partial<AuthSession>): Promise<boolean> {
    const { affected } = await this.tables.run((manager) => manager.update(AuthSession, where, to));
    return affected === 1;
  }

  private async removeWhere(where: FindOptionsWhere<AuthSession>): Promise<number> {
    const { affected } = await this.tables.run((manager) => manager.delete(AuthSession, where));
    return affected ?? 0;
  }
}
