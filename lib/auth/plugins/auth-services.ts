/** The services that hooks and endpoints of plugins work with. */
import { Inject, Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { setHeaders } from '../../response-headers/answer-headers.js';
import { Attempts } from '../throttle/attempts.js';
import { AuthEvents } from '../users/auth-events.js';
import { profileOf, type AuthUser } from '../users/auth-user.js';
import { AUTH_OPTIONS } from '../users/options-token.js';
import { UserRepository } from '../users/user.repository.js';
import { Background } from './background.js';

/** What the hooks and the endpoints of an `AuthPlugin` work with. */
@Injectable()
export class AuthServices {
  constructor(
    readonly users: UserRepository,
    readonly attempts: Attempts,
    readonly events: AuthEvents,
    private readonly background: Background,
    private readonly moduleRef: ModuleRef,
    @Inject(AUTH_OPTIONS) private readonly options: Parameters<typeof profileOf>[1],
  ) {}

  /**
   * A provider of the plugin, of the application, or of the package, such as `UserAccounts` and `Logins`.
   * @throws Error where there is none
   */
  readonly get = <T>(token: (abstract new (...args: never[]) => T) | string | symbol): T =>
    this.moduleRef.get<T>(token as never, { strict: false });

  /** A user as `me` shows it, without added columns. */
  readonly profileOf = (user: AuthUser): ReturnType<typeof profileOf> => profileOf(user, this.options);

  /**
   * Runs work after the answer, whose time then does not depend on it. At shutdown, the application waits up to 10 s for it.
   * @param what begins the line that is logged where the work fails, such as `The mail of a link`
   */
  readonly afterAnswer = (what: string, work: () => Promise<void>): void => this.background.run(what, work);

  /** Sets headers of the answer, or adds a cookie. @throws Error for a request that no account endpoint answers */
  readonly setHeaders = setHeaders;
}
