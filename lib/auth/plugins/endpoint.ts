import type { ParameterDocument } from '../../documents/operation-document.js';
import type { JsonSchema } from '../../entities/json-schema.js';
import type { JsonObject } from '../../http/json-body.js';
import type { Principal } from '../../http/principal.js';
import type { HttpRequest } from '../../http/request-facts.js';
import type { DeclaredRoute } from '../../routes/declared-route.js';
import type { Attempt } from '../throttle/attempt.js';
import type { Answers, DocumentParts } from './document-parts.js';
import type { AuthServices } from './services.js';

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
}

/** An endpoint below `authBasePath`: its route, its body, its limit, what it does, and its description. */
export interface Endpoint<R extends string = string, O extends string = string> {
  /** The name of the handler and of the operation in the OpenAPI document. No other endpoint has it. */
  readonly name: string;
  /** @example 'POST magic-link/use' */
  readonly route: `${'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'} ${string}`;
  /** Applies unless the application has a rule for the very same path. With roles, the user is read from the database. */
  readonly access: NonNullable<DeclaredRoute['access']>;
  readonly status: number;
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
  /** Whether the answer has a token, so that no cache may keep it. @default false */
  readonly sendsTokens?: boolean;
  /** The name of an endpoint without which this one does not exist. */
  readonly needs?: string;
  readonly summary: string;
  readonly description?: string;
  /** In the OpenAPI document. @default `name` */
  readonly operationId?: string;
  /** @default a text `id` where the route has `:id` */
  readonly parameters?: (parts: DocumentParts) => readonly ParameterDocument[];
  /** The answers besides those that status, access, body and limit imply. */
  readonly answers?: Answers | ((parts: DocumentParts) => Answers);
  /** @returns the body of the answer. What it throws is answered as everywhere in accounts: an HttpException by its status. */
  run(services: AuthServices, call: EndpointCall<Texts<R, O>>): unknown;
}

type Texts<R extends string, O extends string> = Readonly<Record<R, string> & Partial<Record<O, string>>>;

/**
 * Declares an endpoint whose body is checked and described by the same list.
 * @example
 * accountEndpoint({
 *   name: 'usePin', route: 'POST pin', access: 'public', status: 200, sendsTokens: true, summary: 'Log in by a PIN',
 *   texts: { pin: { type: 'string', minLength: 6 } },
 *   run: async ({ get }, { body, request }) => get(Logins).complete(await get(Pins).spend(body.pin), request),
 * })
 */
export const accountEndpoint = <R extends string = never, O extends string = never>(
  endpoint: Endpoint<R, O>,
): Endpoint => endpoint as Endpoint;
