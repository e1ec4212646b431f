/** The life of sessions: started by a login, continued by refresh tokens, ended by a logout or by a token that is used again. */
import { Inject, Injectable } from '@nestjs/common';
import { AuthEvents } from '../users/auth-events.js';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth.options.js';
import type { AuthUser } from '../users/auth-user.js';
import type { ClientFacts } from '../throttle/client-info.js';
import { UserRepository } from '../users/user.repository.js';
import type { AuthSession } from './auth-session.js';
import { RefreshTokens, type RefreshToken, type SentToken } from './refresh-tokens.js';
import type { SessionSettings } from './session-options.js';
import { SessionStore } from './session-store.js';

/** So long a spent token may be used again: by another tab, or after an answer that was lost by a restart. */
const GRACE_MS = 2 * 60_000;
/** No other text is the id of a session. */
const ID = /^[0-9a-f]{32}$/;

export interface OpenSession {
  readonly token: SentToken;
  readonly user: AuthUser;
}

export interface StartedSession {
  readonly id: string;
  readonly refreshToken: string;
}

@Injectable()
export class Sessions {
  private readonly settings: SessionSettings;

  constructor(
    private readonly store: SessionStore,
    private readonly refreshTokens: RefreshTokens,
    private readonly users: UserRepository,
    private readonly events: AuthEvents,
    @Inject(AUTH_OPTIONS) { sessions }: ResolvedAuthOptions,
  ) {
    this.settings = sessions as SessionSettings;
  }

  async start({ id: user }: AuthUser, { address = null, userAgent = null }: Facts): Promise<StartedSession> {
    const { text, sessionId, hash } = this.refreshTokens.create();
    const userId = String(user);
    const session = { id: sessionId, userId, currentHash: hash, userAgent, address };
    await this.store.insert(session, this.settings.refreshTokenMs);
    this.events.emit('session.started', { userId, sessionId });
    return { id: sessionId, refreshToken: text };
  }

  /** @returns `undefined` for a token that was not issued here */
  read(refreshToken: string): SentToken | undefined {
    return this.refreshTokens.read(refreshToken);
  }

  /** @returns `undefined` where the session has ended. It ends where its user was deleted or deactivated. */
  async open(token: SentToken): Promise<OpenSession | undefined> {
    const session = await this.store.find(token.sessionId);
    const user = session && (await this.activeUserOf(session));
    return user && { token, user };
  }

  /**
   * Spends the refresh token. A token that was spent before ends the session, except while its successor is unused and the
   * grace lasts.
   * @returns `undefined` where the session has ended
   */
  async rotate({ token, user: opened }: OpenSession, { address }: ClientFacts): Promise<RotatedSession | undefined> {
    const { sessionId: id } = token;
    const userId = String(opened.id);
    const next = await this.spend(token);
    if (next) {
      // The role may have changed since the session was opened.
      const user = await this.activeUserOf({ id, userId });
      return user && { id, refreshToken: next.text, user };
    }
    if (await this.endOwn(userId, id)) this.events.emit('session.reused', { userId, sessionId: id, address });
    return undefined;
  }

  /** @returns the token that replaces it, also for the token that was spent last, while the grace lasts */
  private async spend({ sessionId: id, hash, successors }: SentToken): Promise<RefreshToken | undefined> {
    const next = successors[0] as RefreshToken;
    if (await this.store.rotate(id, hash, next.hash, this.settings.refreshTokenMs)) return next;
    const current = await this.store.successorOf(id, hash, GRACE_MS);
    // It says which secret made the token.
    return successors.find((each) => each.hash === current);
  }

  /** @returns `undefined` where the user was deleted or deactivated. The session ends then. */
  private async activeUserOf(session: Pick<AuthSession, 'id' | 'userId'>): Promise<AuthUser | undefined> {
    const user = await this.users.findById(session.userId);
    if (user?.active) return user;
    await this.end(session);
    return undefined;
  }

  /** @returns whether it is a refresh token. Its session has ended then, if it had not before. */
  async endByToken(refreshToken: string): Promise<boolean> {
    const token = this.refreshTokens.read(refreshToken);
    if (!token) return false;
    const session = await this.store.find(token.sessionId);
    if (session) await this.end(session);
    return true;
  }

  listOf(userId: string): Promise<AuthSession[]> {
    return this.store.listOf(userId);
  }

  /** @returns whether the user has such a session */
  async endOwn(userId: string, id: string): Promise<boolean> {
    const hasEnded = ID.test(id) && (await this.store.removeOwn(userId, id));
    this.hasEnded({ userId, sessionId: id, count: hasEnded ? 1 : 0 });
    return hasEnded;
  }

  /** @param kept the id of the session that stays @returns how many have ended */
  async endAll(userId: string, kept?: string): Promise<number> {
    const count = await this.store.removeAll(userId, kept);
    this.hasEnded({ userId, count });
    return count;
  }

  private end({ id, userId }: Pick<AuthSession, 'id' | 'userId'>): Promise<boolean> {
    return this.endOwn(userId, id);
  }

  private hasEnded(facts: { readonly userId: string; readonly sessionId?: string; readonly count: number }): void {
    if (facts.count > 0) this.events.emit('session.ended', facts);
  }
}

interface RotatedSession extends StartedSession {
  readonly user: AuthUser;
}

type Facts = { readonly [K in keyof ClientFacts]: ClientFacts[K] | null };
