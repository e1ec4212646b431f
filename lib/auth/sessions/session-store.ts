/**
 * The statements on the table of sessions. Each change is one statement that says what it expects of the row. Times are
 * those of the database: the clocks of several processes may differ.
 */
import { Injectable } from '@nestjs/common';
import { Not, Raw, type FindOperator, type FindOptionsWhere } from 'typeorm';
import { AccountTables } from '../users/account-tables.js';
import { AuthSession } from './auth-session.js';

/** What a list of sessions shows at most; the ones used last come first. */
const MAX_LISTED = 100;

export type NewSession = Pick<AuthSession, 'id' | 'userId' | 'currentHash' | 'userAgent' | 'address' | 'login'>;

type Where = FindOptionsWhere<AuthSession>;

@Injectable()
export class SessionStore {
  constructor(private readonly tables: AccountTables) {}

  async insert(session: NewSession, lifetimeMs: number): Promise<void> {
    const { now } = this.tables;
    const values = { ...session, createdAt: now, lastUsedAt: now, expiresAt: () => `${now()} + ${lifetimeMs}` };
    await this.tables.run((manager) =>
      manager.createQueryBuilder().insert().into(AuthSession).values(values).updateEntity(false).execute(),
    );
  }

  /** @returns `undefined` where it has ended or expired */
  async find(id: string): Promise<AuthSession | undefined> {
    return (await this.select({ id }, 1))[0];
  }

  listOf(userId: string): Promise<AuthSession[]> {
    return this.select({ userId }, MAX_LISTED);
  }

  /** Replaces the refresh token. @returns whether it was the current one */
  async rotate(id: string, spent: string, next: string, lifetimeMs: number): Promise<boolean> {
    const { now } = this.tables;
    const times = { rotatedAt: now, lastUsedAt: now, expiresAt: () => `${now()} + ${lifetimeMs}` };
    const where = { id, currentHash: spent, expiresAt: this.after(0) };
    const { affected } = await this.tables.run((manager) => {
      const update = manager.createQueryBuilder().update(AuthSession);
      return update
        .set({ currentHash: next, previousHash: spent, ...times })
        .where(where)
        .execute();
    });
    return affected === 1;
  }

  /** @returns the hash of the current token, where the other one was spent last, and not longer ago */
  async successorOf(id: string, spent: string, withinMs: number): Promise<string | undefined> {
    const [session] = await this.select({ id, previousHash: spent, rotatedAt: this.after(-withinMs) }, 1);
    return session?.currentHash;
  }

  /** @returns whether the user has such a session, which has not expired */
  async removeOwn(userId: string, id: string): Promise<boolean> {
    return (await this.removeWhere({ userId, id, expiresAt: this.after(0) })) > 0;
  }

  /** @param kept the session that stays @returns how many have ended */
  removeAll(userId: string, kept?: string): Promise<number> {
    return this.removeWhere({ userId, ...(kept !== undefined && { id: Not(kept) }) });
  }

  /** Later than so many milliseconds from now. */
  private after(offsetMs: number): FindOperator<number> {
    return Raw((column) => `${column} > ${this.tables.now()} + (${offsetMs})`);
  }

  private select(where: Where, most: number): Promise<AuthSession[]> {
    return this.tables.read((manager) =>
      manager
        .createQueryBuilder(AuthSession, 'session')
        .cache(false)
        .where({ ...where, expiresAt: this.after(0) })
        .orderBy({ 'session.lastUsedAt': 'DESC', 'session.id': 'ASC' })
        .limit(most)
        .getMany(),
    );
  }

  private async removeWhere(where: Where): Promise<number> {
    const { affected } = await this.tables.run((manager) => manager.delete(AuthSession, where));
    return affected ?? 0;
  }
}
