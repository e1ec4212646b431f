/** What a plugin of accounts is made of: hooks and endpoints. */
import type { Provider, Type } from '@nestjs/common';
import type { Authentication, LoginClaims, Principal } from '../../http/caller.js';
import type { ParameterDocument } from '../../documents/operation-document.js';
import type { JsonSchema } from '../../entities/json-schema.js';
import type { JsonObject } from '../../http/json-body.js';
import type { HttpRequest } from '../../http/http-request.js';
import type { DeclaredRoute } from '../../routes/declared-route.js';
import type { Attempt, AttemptLimits } from '../throttle/attempt.js';
import type { ClientInfo } from '../../http/client-info.js';
import type { AuthUser } from '../users/auth-user.js';
import type { Texts } from '../users/user-checks.js';
import type { UserFields } from '../users/user.repository.js';
import type { AuthServices, WayInKind } from './auth-services.js';
import type { Answers, DocumentParts, LoginDocument } from './document-parts.js';
import type { PluginSetup } from './plugin-setup.js';

/** @typeParam Body the texts of the body */
export interface EndpointCall<Body = object> {
  readonly request: HttpRequest;
  /** The address of the client; `undefined` where the platform does not know it. */
  readonly address: string | undefined;
  /** Checked against `texts` and `optionalTexts`; as sent with `takesObject`, and empty without all of them. */
  readonly body: JsonObject & Body;
  /** The parameter `:id` of the route. */
  readonly id: string;
  /** The user of the token. @throws 401 where the request has none, as on a public route */
  readonly user: () => Principal;
  /** With `needsProof`: how the user has proved itself; `undefined` where a recent login was enough. */
  readonly proof?: UserProof | undefined;
}

/** Proves in the body of a request that the user of its token is there. */
export interface UserProof {
  /** The member of the body, such as `password`. No other plugin has it. */
  readonly member: string;
  readonly schema: JsonSchema;
  /** Whether logins need it as their second step. @default false */
  readonly isFactor?: boolean;
  /** Whether the user has one. @param user including the hash */
  has(services: AuthServices, user: AuthUser): Promise<boolean> | boolean;
  /** @throws 400 for what cannot be a proof, 401 for a wrong one, which it counts, 429 */
  check(services: AuthServices, call: EndpointCall, sent: unknown): Promise<unknown>;
}

/** An endpoint below `authBasePath`: its route, its body, its limit, what it does, and its description. */
export interface Endpoint<R extends string = string, O extends string = string> {
  /** The name of the handler and of the operation in the OpenAPI document. No other endpoint has it. */
  readonly name: string;
  /** Below `authBasePath`, unless the path begins with a slash. @example 'POST magic-link/use' */
  readonly route: `${'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'} ${string}`;
  /**
   * Applies unless the application has a rule for the very same path. With roles, the user is read from the database.
   * @default 'authenticated'
   */
  readonly access?: NonNullable<DeclaredRoute['access']>;
  /** @default 200 */
  readonly status?: number;
  /** The texts that the body must have, with their schemas. */
  readonly texts?: Readonly<Record<R, JsonSchema>>;
  /** Further texts. A body of optional texts only may be left out. */
  readonly optionalTexts?: Readonly<Record<O, JsonSchema>>;
  /** The schema of a body that `run` checks itself, in place of the texts. */
  readonly takesObject?: (parts: DocumentParts) => JsonSchema;
  /**
   * The action as which `run` is counted: it fails by an `UnauthorizedException`, and is 429 beyond the limits of the
   * action. A function names the account too. `false` where `run` counts for itself, or has no failures.
   * @default the name of a public endpoint, for each address; none for others
   */
  readonly limit?: string | false | ((services: AuthServices, call: EndpointCall<Texts<R, O>>) => Attempt);
  /** The name of an endpoint without which this one does not exist. */
  readonly needs?: string;
  /**
   * Whether a token whose session has ended is good enough. Without it, such a token is 401, whatever `revocation` says
   * (OWASP ASVS 5.0, 7.4.1): the id of its user may be that of another one after a failover that has lost both.
   * @default false
   */
  readonly allowsEndedSession?: boolean;
  /**
   * For an endpoint that begins or creates what outlives the session (OWASP ASVS 5.0, 7.5.1): the body has one proof, or a user
   * without any has logged in at most 5 minutes ago. `factor`: where the user has a second factor, only that is one.
   */
  readonly needsProof?: 'any' | 'factor';
  readonly summary: string;
  readonly description?: string;
  /** The id of the operation in the OpenAPI document. @default `name` */
  readonly operationId?: string;
  /** @default a text `id` where the route has `:id` */
  readonly parameters?: (parts: DocumentParts) => readonly ParameterDocument[];
  /** The answers besides those that status, access, body and limit imply. */
  readonly answers?: Answers | ((parts: DocumentParts) => Answers);
  /** @returns the body of the answer. What it throws is answered as everywhere in accounts: an HttpException by its status. */
  run(services: AuthServices, call: EndpointCall<Texts<R, O>>): unknown;
}

/**
 * Declares an endpoint whose body is checked and described by the same list.
 * @example
 * accountEndpoint({
 *   name: 'usePin', route: 'POST pin', access: 'public', summary: 'Log in by a PIN',
 *   texts: { pin: { type: 'string', minLength: 6 } },
 *   run: async ({ get }, { body, request }) => get(Logins).complete(await get(Pins).spend(body.pin), request),
 * })
 */
export const accountEndpoint = <R extends string = never, O extends string = never>(
  endpoint: Endpoint<R, O>,
): Endpoint => endpoint as Endpoint;

export interface LoginContext extends ClientInfo {
  readonly request: HttpRequest;
  /** Whether the user has just registered. */
  readonly isNew: boolean;
  /** What `Logins.complete` was given, for the tokens. */
  readonly login?: LoginClaims | undefined;
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
  /** Headers of the answer, such as a cookie. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The claim `sid` of the token. */
  readonly session?: string;
  /** Is called where the login fails after all. */
  revoke?(): Promise<unknown>;
}

/**
 * A change of an account that has been stored. `user.created` is a user of `UserAccounts`, whose address counts as verified;
 * `user.loggedOut` asks to end all sessions. `fields` are the changed columns: `active: false` ends what lets the user in.
 * `by` says who has changed the password: the user, a mailed link, or the application. `isTakenBack`: by a link to an address
 * that nobody had verified, so that a stranger may have registered: what else lets the user in must end. `keptSession` goes on.
 */
export type AccountChange = { readonly userId: string } & (
  | { readonly name: 'user.created'; readonly user: AuthUser }
  | { readonly name: 'user.changed'; readonly user: AuthUser; readonly fields: UserFields }
  | {
      readonly name: 'password.changed';
      readonly user: AuthUser;
      readonly by: 'user' | 'link' | 'application';
      readonly isTakenBack: boolean;
      readonly keptSession: string | undefined;
    }
  | { readonly name: 'email.changed'; readonly user: AuthUser; readonly from: string | null }
  | { readonly name: 'user.loggedOut'; readonly keptSession?: string | undefined }
  | { readonly name: 'user.deleted' }
);

/**
 * A feature of accounts: endpoints below `authBasePath`, tables, limits, and hooks. A plugin may refuse or add, and never
 * opens: access rules decide about what it authenticates, and only the package signs tokens. Hooks run in the order of the
 * option `plugins`, but `issue` of a plugin with `hasSession` first.
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
  /** They may inject the repositories of `tables`, and what `AuthModule` exports. The application may inject them. */
  readonly providers?: readonly Provider[];
  readonly endpoints?: readonly Endpoint[];
  /** The limits of its actions, by names that no other plugin has. @default failures of an address for each action */
  readonly limits?: Readonly<Record<string, AttemptLimits>>;
  /** Tells `AuthModule` what it needs. Runs once, when the module is declared. */
  setup?(core: PluginSetup): void;
  /**
   * What it decides by, for the snapshot of `declarest access`: values, which are printed, and functions and classes, of which
   * a hash of the source is. Never a secret. More is wider: a larger number, or `true` after `false`; and texts of a list that
   * begin with `requires ` restrict.
   * @default a hash of all functions, endpoints and providers of the plugin
   * @example decidesBy: { linkMinutes: 15, userOf, roles: roles.map((role) => `requires ${role}`) }
   */
  readonly decidesBy?: Readonly<Record<string, unknown>>;
  /** What users of the plugin may send where an endpoint `needsProof`. */
  readonly proof?: UserProof;

  /**
   * Identifies a request without a bearer token by another credential, or by a bearer token that the package has not signed,
   * where the result has `bearerWasSent: true`; or checks a token of the package further, which it can only refuse. A principal
   * of the plugin counts while its user is active, with those of its roles that the user has, and with the e-mail address and
   * claims of the user. Where it throws, a request that needs a user is 503.
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

  /** Whether the session of a token goes on, and has begun within `maxAgeSeconds`. For each endpoint that needs a token. */
  hasSession?(services: AuthServices, session: string, maxAgeSeconds?: number): Promise<boolean>;

  /** Adds to the answer and the token of a login. Where it throws, there is no token. */
  issue?(services: AuthServices, user: AuthUser, context: LoginContext): Promise<IssuedParts> | IssuedParts;

  /**
   * Is awaited after a change. Where it throws, the change stays, the other plugins run, and the request fails with the first
   * error.
   * @returns how many sessions it has ended
   */
  accountChanged?(services: AuthServices, change: AccountChange): Promise<number | void> | number | void;

  /** What lets users in by the plugin: administrators list and revoke it. */
  waysIn?(services: AuthServices): WayInKind;

  /** Describes in the OpenAPI document what its hooks add to logins. */
  describe?(): LoginDocument;
}
