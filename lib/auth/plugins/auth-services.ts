/** The services that hooks and endpoints of plugins work with. */
import { Inject, Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { governedMethod } from '../../access/route-access.js';
import { pathOf, type HttpRequest } from '../../http/http-request.js';
import { BASE_ROLE, CallerRoles, CREDENTIAL_ROLES } from '../../http/caller.js';
import { setHeaders } from '../../response-headers/account-headers.js';
import { Application } from '../../routes/application.js';
import { declaredRoute } from '../../routes/declared-route.js';
import { Attempts } from '../throttle/attempts.js';
import { derivedKeys } from '../tokens/derived-keys.js';
import { AuthEvents } from '../../access/auth-events.js';
import { profileOf, type AuthUser } from '../users/auth-user.js';
import { AUTH_OPTIONS } from '../users/options-token.js';
import { UserRepository, type LoginField } from '../users/user.repository.js';
import { Background } from './background.js';

const RESERVED: readonly string[] = Object.values(CREDENTIAL_ROLES);

/** What plugins may know of the options of `AuthModule`. */
interface ServiceOptions {
  readonly loginField: LoginField;
  readonly registration: boolean;
  readonly accountLinks: string;
  /** @internal */
  readonly serverSecrets: readonly (string | Buffer)[];
  /** @internal */
  readonly parseId: (text: string) => string | number;
  /** @internal */
  readonly plugins: readonly { waysIn?(services: AuthServices): WayInKind }[];
}

/** What lets users in by a plugin, such as their keys. */
export interface WayInKind {
  /** Such as `key`. */
  readonly kind: string;
  /** As their user may see them, without secrets. */
  list(userId: string): Promise<readonly { readonly id: string }[]>;
  /** Ends one, also the last one. @returns whether the user has had it */
  revoke(userId: string, id: string): Promise<boolean>;
}

/** The names of the endpoints, by method and path. */
const accountEndpoints = ({ routeTable }: Application): ReadonlyMap<string, string> =>
  new Map(
    routeTable.controllerRoutes.flatMap(({ handler, method, path }) => {
      const { endpoint } = declaredRoute(handler) ?? {};
      return endpoint === undefined ? [] : [[`${method} ${path}`, endpoint] as const];
    }),
  );

/** What the hooks and the endpoints of an `AuthPlugin` work with. */
@Injectable()
export class AuthServices {
  constructor(
    readonly users: UserRepository,
    readonly attempts: Attempts,
    readonly events: AuthEvents,
    private readonly background: Background,
    private readonly moduleRef: ModuleRef,
    private readonly application: Application,
    @Inject(AUTH_OPTIONS) readonly options: ServiceOptions,
  ) {}

  /**
   * A provider of the plugin, of the application, or of the package, such as `UserAccounts` and `Logins`.
   * @throws Error where there is none
   */
  readonly get = <T>(token: (abstract new (...args: never[]) => T) | string | symbol): T =>
    this.moduleRef.get<T>(token as never, { strict: false });

  /** The roles of a user with these ones: `USER`, and those that they include. */
  readonly expandRoles = (roles: readonly string[]): readonly string[] => {
    const { expand } = this.application.stateOf(CallerRoles);
    const all = [BASE_ROLE, ...roles, ...(expand?.(roles) ?? [])];
    return [...new Set(all)].filter((role) => !RESERVED.includes(role));
  };

  /** The name of the account endpoint that a request is for; `undefined` for other routes, and for one with a parameter. */
  readonly endpointOf = (request: HttpRequest): string | undefined =>
    this.application.once(accountEndpoints).get(`${governedMethod(request.method)} ${pathOf(request)}`);

  /** Keys of 32 bytes from `jwtKeys` or `jwtSecret`: the first one encrypts and signs, the others belong to earlier secrets. */
  readonly keysFor = (purpose: string): readonly Buffer[] => derivedKeys(this.options.serverSecrets, purpose);

  /** A user as `me` shows it, without added columns. */
  readonly profileOf = (user: AuthUser): ReturnType<typeof profileOf> => profileOf(user, this.options);

  /** What lets users in, besides the password: a kind for each plugin that has one. */
  readonly waysIn = (): readonly WayInKind[] => this.options.plugins.flatMap((each) => each.waysIn?.(this) ?? []);

  /**
   * Runs work after the answer, whose time then does not depend on it. At shutdown, the application waits up to 10 s for it.
   * @param what begins the line that is logged where the work fails, such as `The mail of a link`
   */
  readonly afterAnswer = (what: string, work: () => Promise<void>): void => this.background.run(what, work);

  /** Sets headers of the answer, or adds a cookie. @throws Error for a request that no account endpoint answers */
  readonly setHeaders = setHeaders;
}
