/** The life of sessions: started by a login, continued by refresh tokens, ended by a logout or by a token that is used again. */
import { Inject, Injectable } from '@nestjs/common';
import type { AccountChange, LoginContext } from '../plugins/plugin.js';
import type { Attempt } from '../throttle/attempt.js';
import type { ClientInfo } from '../../http/client-info.js';
import { AccessTokens } from '../tokens/access-tokens.js';
import { AuthEvents } from '../../access/auth-events.js';
import type { AuthUser } from '../users/auth-user.js';
import { UserRepository } from '../users/user.repository.js';
import type { AuthSession } from './auth-session.js';
import { RefreshTokens, type RefreshToken, type SentToken } from './refresh-tokens.js';
import { SESSION_SETTINGS, type SessionSettings } from './session-settings.js';
import { SessionStore } from './session-store.js';

/** So long a spent token may be used again: by another tab, or after an answer that was lost by a restart. */
const GRACE_MS = 2 * 60_000;
/** No other text is the id of a session. */
const ID = /^[0-9a-f]{32}$/;

@Injectable()
export class Sessions {
  constructor(
    private readonly store: SessionStore,
    private readonly refreshTokens: RefreshTokens,
    private readonly accessTokens: AccessTokens,
    private readonly users: UserRepository,
    private readonly events: AuthEvents,
    @Inject(SESSION_SETTINGS) private readonly settings: SessionSettings,
  ) {}

  async start({ id }: AuthUser, { address, userAgent, login }: LoginContext) {
    const { text: refreshToken, sessionId, hash } = this.refreshTokens.create();
    const userId = String(id);
    const client = { userAgent: userAgent ?? null, address: address ?? null, login: login ?? null };
    const session = { id: sessionId, userId, currentHash: hash, ...client };
    await this.store.insert(session);
    this.events.emit('session.started', { userId, sessionId });
    const { maxSessions, accessTokenSeconds: expiresIn } = this.settings;
    const oldest = maxSessions === undefined ? [] : await this.store.listBeyond(userId, maxSessions);
    for (const each of oldest) await this.endOwn(userId, each.id);
    return {
      tokens: { refreshToken, expiresIn },
      session: sessionId,
      revoke: () => this.endOwn(userId, sessionId),
    };
  }

  /** A text that was not issued here ends no session, and counts for the address. */
  attemptOf(refreshToken: string, address: string | undefined): Attempt {
    const sent = this.refreshTokens.read(refreshToken);
    return sent ? { action: 'refresh', account: sent.sessionId, address } : { action: 'forgedRefresh', address };
  }

  /**
   * Spends the refresh token. A token that was spent before ends the session, except while its successor is unused and the
   * grace lasts. Where `claims` fails, the token is not spent.
   * @returns `undefined` for a token that is not valid @throws Error where the option `claims` fails
   */
  async refresh(refreshToken: string, { address }: ClientInfo) {
    const sent = this.refreshTokens.read(refreshToken);
    const session = sent && (await this.store.find(sent.sessionId));
    if (!session) return undefined;
    const { hasOwnClaims } = this.accessTokens;
    const before = hasOwnClaims ? await this.activeUserOf(session) : undefined;
    if (hasOwnClaims && !before) return undefined;
    const own = before && (await this.accessTokens.ownClaimsOf(before));
    const { id, userId } = session;
    const next = await this.spend(sent);
    if (!next) {
      // A server that is behind its cluster reads an older row: only what was read is ended.
      if (await this.endOwn(userId, id, session.currentHash))
        this.events.emit('session.reused', { userId, sessionId: id, address });
      return undefined;
    }
    // The role may have changed while `claims` ran.
    const user = await this.activeUserOf(session);
    if (!user) return undefined;
    const token = this.accessTokens.signFor(user, own, id, session.login);
    return { token, refreshToken: next.text, expiresIn: this.settings.accessTokenSeconds };
  }

  /** @returns the token that replaces it, also for the token that was spent last, while the grace lasts */
  private async spend({ sessionId: id, hash, successors }: SentToken): Promise<RefreshToken | undefined> {
    const next = successors[0] as RefreshToken;
    if (await this.store.rotate(id, hash, next.hash)) return next;
    const current = await this.store.successorOf(id, hash, GRACE_MS);
    // It says which secret made the token.
    return successors.find((each) => each.hash === current);
  }

  /** @returns `undefined` where the user was deleted or deactivated. The session of a deactivated one ends then. */
  private async activeUserOf(session: Pick<AuthSession, 'id' | 'userId'>): Promise<AuthUser | undefined> {
    const user = await this.users.findById(session.userId);
    if (user?.active) return user;
    // A standby may not have the user yet, so that what is not found ends nothing.
    if (user) await this.endOwn(session.userId, session.id);
    return undefined;
  }

  /** @returns whether it is a refresh token. Its session has ended then, if it had not before. */
  async endByToken(refreshToken: string): Promise<boolean> {
    const token = this.refreshTokens.read(refreshToken);
    if (!token) return false;
    const session = await this.store.find(token.sessionId);
    if (session) await this.endOwn(session.userId, session.id);
    return true;
  }

  /** @param currentHash the session is not ended where it has another one by now @returns whether the user has such a session */
  async endOwn(userId: string, id: string, currentHash?: string): Promise<boolean> {
    const hasEnded = ID.test(id) && (await this.store.removeOwn(userId, id, currentHash));
    this.reportEnd({ userId, sessionId: id, count: hasEnded ? 1 : 0 });
    return hasEnded;
  }

  /** @param kept the id of the session that stays @returns how many have ended */
  async endAll(userId: string, kept?: string): Promise<number> {
    const count = await this.store.removeAll(userId, kept);
    this.reportEnd({ userId, count });
    return count;
  }

  /** Ends what a change of the account must not leave open. */
  async onAccountChange(change: AccountChange): Promise<number> {
    const { name, userId } = change;
    if (name === 'password.changed' || name === 'user.loggedOut') return this.endAll(userId, change.keptSession);
    return name === 'user.deleted' || (name === 'user.changed' && change.fields.active === false)
      ? this.endAll(userId)
      : 0;
  }

  private reportEnd(facts: { readonly userId: string; readonly sessionId?: string; readonly count: number }): void {
    if (facts.count > 0) this.events.emit('session.ended', facts);
  }
}
