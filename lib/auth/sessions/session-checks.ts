/** `revocation: 'immediate'`: whether the session of an access token goes on, and its user has the role of the token. */
import { Inject, Injectable } from '@nestjs/common';
import type { Authentication } from '../../http/caller.js';
import { databaseFailureOf } from '../../entities/database-errors.js';
import type { ResolvedAuthOptions } from '../options/resolve-options.js';
import { AccountTables } from '../tables/account-tables.js';
import { AUTH_OPTIONS } from '../users/options-token.js';
import { UserRepository } from '../users/user.repository.js';
import { AuthSession } from './auth-session.js';
import { SessionStore } from './session-store.js';

interface SessionRow {
  readonly role: string;
  readonly active: unknown;
}

@Injectable()
export class SessionChecks {
  constructor(
    private readonly users: UserRepository,
    private readonly tables: AccountTables,
    private readonly store: SessionStore,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
  ) {}

  async confirm(authentication: Authentication): Promise<Authentication> {
    const { principal, session } = authentication;
    if (!principal) return authentication;
    const role = session === undefined ? undefined : await this.readRole(session, String(principal.id));
    const { roles } = principal;
    return role !== undefined && roles.length === 1 && roles[0] === role ? authentication : { bearerWasSent: true };
  }

  /**
   * One statement where the users have a table.
   * @returns the role of the session's user; `undefined` where the session has ended or the user is not active
   */
  private async readRole(id: string, userId: string): Promise<string | undefined> {
    const { tables } = this;
    const { userClass, repositoryClass } = this.options;
    const row = await tables.read(async (manager): Promise<SessionRow | undefined> => {
      const query = manager
        .createQueryBuilder(AuthSession, 'session')
        .cache(false)
        .select('session.id', 'id')
        .where({ id, userId, ...this.store.live });
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
    return Number(user?.active) === 1 ? user?.role : undefined;
  }
}
