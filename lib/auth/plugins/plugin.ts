import type { Provider, Type } from '@nestjs/common';
import type { Authentication } from '../../access/principal.js';
import type { NamedSchema } from '../../documents/operation-document.js';
import type { JsonSchema } from '../../entities/json-schema.js';
import type { HttpRequest } from '../../http/request-facts.js';
import type { AttemptLimits } from '../throttle/attempt.js';
import type { ClientInfo } from '../throttle/client-info.js';
import type { AuthUser } from '../users/auth-user.js';
import type { UserFields, UserRepository } from '../users/user.repository.js';
import type { Answers, DocumentParts } from './document-parts.js';
import type { Endpoint } from './endpoint.js';
import type { AuthServices } from './services.js';

export interface LoginContext extends ClientInfo {
  readonly request: HttpRequest;
  /** Whether the user has just registered. */
  readonly isNew: boolean;
}

/** What is answered in place of tokens, when a login needs a further step. */
export interface LoginChallenge {
  readonly message: string;
  /** What the client needs for the next step, such as a code that it sends back. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/** What a plugin adds to a login. */
export interface IssuedParts {
  /** Members beside `user` and `token`. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** The claim `sid` of the token. */
  readonly session?: string;
  /** Is called where the login fails after all. */
  revoke?(): Promise<unknown>;
}

/** A change of an account that has been stored. */
export type AccountChange = { readonly userId: string } & (
  | {
      /** `UserAccounts` has created it: the address counts as verified. */
      readonly name: 'user.created';
      readonly user: AuthUser;
    }
  | {
      /** `fields` are the changed columns; `active: false` ends what lets the user in. */
      readonly name: 'user.changed';
      readonly user: AuthUser;
      readonly fields: UserFields;
    }
  | {
      /** `keptSession` is the session of the user who has changed the own password. */
      readonly name: 'password.changed';
      readonly user: AuthUser;
      readonly keptSession: string | undefined;
    }
  | { readonly name: 'email.changed'; readonly user: AuthUser; readonly from: string | null }
  | { readonly name: 'user.deleted' }
  | {
      /** `UserAccounts.endSessions` was called. */
      readonly name: 'user.loggedOut';
    }
);

/** How a plugin changes the description of logins. */
export interface LoginDocument {
  /** The members that `issue` adds. */
  readonly members?: Readonly<Record<string, JsonSchema>>;
  /** Further answers of `login`, by status. */
  readonly login?: Answers;
  /** Further answers of `register`, by status. */
  readonly register?: Answers;
  /** Schemas that endpoints of the plugin refer to. */
  readonly schemas?: readonly NamedSchema[];
}

/**
 * A feature of accounts: endpoints below `authBasePath`, tables, limits, and hooks. A plugin may refuse or add, and never
 * opens: access rules decide about what it authenticates, and only the package signs tokens. Hooks run in the order of the
 * option `plugins`.
 * @example
 * const waitingList: AuthPlugin = {
 *   name: 'waitingList',
 *   async beforeLogin({ get }, user, { isNew }) {
 *     if (isNew) return { message: 'We write to you when your account is ready' };
 *     if (!(await get(Invitations).has(user.id))) throw new ForbiddenException('Your account is not ready');
 *     return undefined;
 *   },
 * };
 * AuthModule.forRoot({ userClass: User, plugins: [sessions(), waitingList] })
 */
export interface AuthPlugin {
  /** No other plugin has it. */
  readonly name: string;
  /** How messages at startup name the plugin. @default `name` */
  readonly option?: string;
  /** Entities of the default data source. Rows are removed when their column `expiresAt` (milliseconds) has passed. */
  readonly tables?: readonly Type[];
  /** They may inject the repositories of `tables`, and what `AuthModule` exports. */
  readonly providers?: readonly Provider[];
  readonly endpoints?: readonly Endpoint[];
  /** The limits of its actions, by names that no other plugin has. @default failures of an address for each action */
  readonly limits?: Readonly<Record<string, AttemptLimits>>;
  /** Whether production refuses to start without the options `mailer` and `accountLinks`. @default false */
  readonly needsMail?: boolean;
  /** Methods that a `repositoryClass` must implement. */
  readonly needsMethods?: readonly (keyof UserRepository)[];
  /** Fields of `AuthUser` that clients must send to register. */
  readonly requiredFields?: readonly string[];
  /** A role that its endpoints require. The last active user with the role cannot be deleted by the own request. */
  readonly role?: string;
  /** The lifetime of access tokens, in place of `jwtExpirationHours`. At most one plugin has it. */
  readonly accessTokens?: {
    readonly seconds: number;
    /** The option that sets it, for messages. */
    readonly option: string;
  };

  /**
   * Identifies a request without a bearer token by another credential, or checks a bearer token further, which it can only
   * refuse. A principal of the plugin counts while its user is active, with those of its roles that the user has. Where it
   * throws, a request that needs a user is 503.
   * @param bearer what the package has found
   * @returns `undefined` at once where it has nothing to say
   */
  authenticate?(
    services: AuthServices,
    request: HttpRequest,
    bearer: Authentication,
  ): Promise<Authentication> | Authentication | undefined;

  /**
   * Runs when the credentials were right, before anything is issued. What it throws refuses the login, and a registration,
   * which then stores no user.
   * @returns a challenge to answer in place of tokens; further plugins do not run then
   */
  beforeLogin?(
    services: AuthServices,
    user: AuthUser,
    context: LoginContext,
  ): Promise<LoginChallenge | undefined> | LoginChallenge | undefined;

  /** Adds to the answer and the token of a login. Where it throws, there is no token. */
  issue?(services: AuthServices, user: AuthUser, context: LoginContext): Promise<IssuedParts> | IssuedParts;

  /**
   * Is awaited after a change. Where it throws, the change stays, the other plugins run, and the request fails with the first
   * error.
   * @returns how many sessions it has ended
   */
  accountChanged?(services: AuthServices, change: AccountChange): Promise<number | void> | number | void;

  /** Describes in the OpenAPI document what its hooks add to logins. */
  describe?(parts: DocumentParts): LoginDocument;
}
