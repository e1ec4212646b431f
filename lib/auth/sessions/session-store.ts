/**
 * The statements on the table of sessions. Each change is one statement that says what it expects of the row. Times are
 * those of the database: the clocks of several processes may differ.
 */
import { Inject, Injectable } from '@nestjs/common';
import { Not, type FindOptionsWhere } from 'typeorm';
import { AccountTables } from '../tables/account-tables.js';
import { AuthSession } from './auth-session.js';
import { SESSION_SETTINGS, type SessionSettings } from './session-settings.js';

/** What a list of sessions shows at most; the ones used last come first. */
const MAX_LISTED = 100;
/** One login ends no more sessions, where `maxSessions` is new to a user with many. */
const MAX_ENDED = 1_000;

export type NewSession = Pick<AuthSession, 'id' | 'userId' | 'currentHash' | 'userAgent' | 'address' | 'login'>;

type Where = FindOptionsWhere<AuthSession>;

@Injectable()
export class SessionStore {
  constructor(
    private readonly tables: AccountTables,
    @Inject(SESSION_SETTINGS) private readonly settings: SessionSettings,
  ) {}

  /** The condition for a session that was refreshed in time, and did not begin too long ago. */
  get live(): Where {
    const { absoluteMs } = this.settings;
    return {
      expiresAt: this.tables.after(0),
      ...(absoluteMs !== undefined && { createdAt: this.tables.after(-absoluteMs) }),
    };
  }

  async insert(session: NewSession): Promise<void> {
    const { now } = this.tables;
    await this.tables.insert(AuthSession, { ...session, createdAt: now, lastUsedAt: now, expiresAt: this.expiry });
  }

  /** @returns `undefined` where it has ended or expired, or has begun longer ago */
  async find(id: string, maxAgeSeconds?: number): Promise<AuthSession | undefined> {
    const isRecent = maxAgeSeconds !== undefined && { createdAt: this.tables.after(-1000 * maxAgeSeconds) };
    return (await this.select({ id, ...isRecent }, 1))[0];
  }

  listOf(userId: string): Promise<AuthSession[]> {
    return this.select({ userId }, MAX_LISTED);
  }

  /** The sessions of a user behind so many that began last. Of parallel logins, the last one to ask finds all of them. */
  listBeyond(userId: string, newest: number): Promise<AuthSession[]> {
    return this.tables.find(
      AuthSession,
      { ...this.live, userId },
      { order: { createdAt: 'DESC', id: 'ASC' }, skip: newest, take: MAX_ENDED },
    );
  }

  /** Replaces the refresh token. @returns whether it was the current one */
  async rotate(id: string, spent: string, next: string): Promise<boolean> {
    const { now } = this.tables;
    const times = { rotatedAt: now, lastUsedAt: now, expiresAt: this.expiry };
    const where = { id, currentHash: spent, ...this.live };
    return (await this.tables.update(AuthSession, where, { currentHash: next, previousHash: spent, ...times })) === 1;
  }

  /** @returns the hash of the current token, where the other one was spent last, and not longer ago */
  async successorOf(id: string, spent: string, withinMs: number): Promise<string | undefined> {
    const [session] = await this.select({ id, previousHash: spent, rotatedAt: this.tables.after(-withinMs) }, 1);
    return session?.currentHash;
  }

  /** @returns whether the user has such a session, which goes on */
  async removeOwn(userId: string, id: string, currentHash?: string): Promise<boolean> {
    const read = currentHash !== undefined && { currentHash };
    return (await this.tables.remove(AuthSession, { userId, id, ...read, ...this.live })) > 0;
  }

  /** @param kept the session that stays @returns how many have ended */
  removeAll(userId: string, kept?: string): Promise<number> {
    return this.tables.remove(AuthSession, { userId, ...(kept !== undefined && { id: Not(kept) }) });
  }

  private get expiry(): () => string {
    return this.tables.within(this.settings.refreshTokenMs);
  }

  private select(where: Where, take: number): Promise<AuthSession[]> {
    return this.tables.find(
      AuthSession,
      { ...this.live, ...where },
      { order: { lastUsedAt: 'DESC', id: 'ASC' }, take },
    );
  }
}
