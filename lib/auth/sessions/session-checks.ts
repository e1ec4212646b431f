/** `revocation: 'immediate'`: whether the session of an access token goes on, and its user has the role of the token. */
import { Inject, Injectable, Optional } from '@nestjs/common';
import type { Authentication } from '../../access/principal.js';
import { databaseTime } from '../../database/database-time.js';
import { databaseFailureOf } from '../../entities/database-errors.js';
import { AccountTables } from '../account-tables.js';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../auth.options.js';
import { UserRepository } from '../user.repository.js';
import { AuthSession } from './auth-session.js';

/** A change on another instance takes effect after this time at the latest. */
const REMEMBERED_MS = 1_000;
const MAX_REMEMBERED = 10_000;

/** A session that goes on. The role is `undefined` where its user is not active. */
interface LiveSession {
  readonly role: string | undefined;
}

interface Remembered {
  readonly userId: string;
  readonly until: number;
  readonly session: Promise<LiveSession | undefined>;
  /** Roles of tokens that were refused: the user was read after those tokens had come, and has another role. */
  readonly refused: Set<string>;
}

interface Row {
  readonly role: string;
  readonly active: unknown;
}

@Injectable()
export class SessionChecks {
  /** By session, the oldest first. */
  private readonly remembered = new Map<string, Remembered>();

  constructor(
    private readonly users: UserRepository,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    @Optional() private readonly tables?: AccountTables,
  ) {}

  get isImmediate(): boolean {
    return this.options.sessions?.isImmediate === true;
  }

  async confirm(authentication: Authentication): Promise<Authentication> {
    const { principal, session: id } = authentication;
    if (!principal) return authentication;
    const refused: Authentication = { bearerWasSent: true };
    if (id === undefined) return refused;
    const userId = String(principal.id);
    const role = principal.roles.length === 1 ? principal.roles[0] : undefined;
    const known = this.find(id, userId);
    const session = await known.session;
    // A session that has ended stays so.
    if (!session || role === undefined || known.refused.has(role)) return refused;
    if (session.role === role) return authentication;
    // What is remembered may be older than a token with a new role.
    this.remembered.delete(id);
    const present = this.find(id, userId);
    if ((await present.session)?.role === role) return authentication;
    present.refused.add(role);
    return refused;
  }

  /** Reads the sessions of a user again at the next request. */
  forget(userId: string): void {
    for (const [id, each] of this.remembered) if (each.userId === userId) this.remembered.delete(id);
  }

  private find(id: string, userId: string): Remembered {
    const now = Date.now();
    const known = this.remembered.get(id);
    if (known && known.until > now && known.userId === userId) return known;
    this.removeOld(now);
    const session = this.read(id, userId);
    const read: Remembered = { userId, until: now + REMEMBERED_MS, session, refused: new Set() };
    this.remembered.delete(id);
    this.remembered.set(id, read);
    // The next request tries again.
    session.catch(() => this.remembered.delete(id));
    return read;
  }

  private removeOld(now: number): void {
    for (const [id, { until }] of this.remembered) {
      if (until > now && this.remembered.size < MAX_REMEMBERED) return;
      this.remembered.delete(id);
    }
  }

  /** One statement where the users have a table. */
  private async read(id: string, userId: string): Promise<LiveSession | undefined> {
    const tables = this.tables as AccountTables;
    const { userClass, repositoryClass } = this.options;
    const row = await tables.run(async (manager): Promise<Row | undefined> => {
      const query = manager
        .createQueryBuilder(AuthSession, 'session')
        .cache(false)
        .select('session.id', 'id')
        .where('session.id = :id AND session.userId = :userId', { id, userId })
        .andWhere(`session.expiresAt > ${databaseTime(tables.dataSource)}`);
      if (repositoryClass) return query.getRawOne();
      return query
        .innerJoin(userClass, 'account', 'account.id = :accountId', { accountId: userId })
        .addSelect('account.role', 'role')
        .addSelect('account.active', 'active')
        .getRawOne()
        .catch((error: unknown) => {
          // No user has an id that the column cannot hold.
          if (databaseFailureOf(error) === 'invalid') return undefined;
          throw error;
        });
    });
    if (!row) return undefined;
    const user = repositoryClass ? await this.users.findById(userId) : row;
    // Drivers return booleans as numbers, too.
    return user ? { role: Number(user.active) === 1 ? user.role : undefined } : undefined;
  }
}
