/** The option `authenticate` of AccessModule: its forms, and what they return. */
import type { ExecutionContext, Type } from '@nestjs/common';
import type { HttpRequest } from '../../http/http-request.js';
import { describe, InvalidOptionError, isClass } from '../../options/invalid-option.js';
import { isFunction, isObject } from '../../options/option-table.js';

/** A user as `authenticate` returns it. Further members are claims, for `request.user`, scopes, owners and policies. */
export interface ExternalUser {
  /** A text of 1 to 255 characters, or an integer. */
  readonly id: string | number;
  /** At most 1,000 names. @default [] */
  readonly roles?: readonly string[] | null | undefined;
  /** @default '' */
  readonly email?: string | null | undefined;
}

/**
 * Identifies the user of a request, and returns nothing where there is none. An `HttpException` of 4xx means that there is
 * none, too. After any other error, and after 5 s, a request that needs a user is answered with 503.
 * @param context the handler that the request is for, where `fromRequest` runs guards
 * @example authenticate: async ({ headers }) => findUserByTicket(headers['x-ticket'])
 */
export type Authenticate = (
  request: HttpRequest,
  context?: ExecutionContext,
) => ExternalUser | null | undefined | Promise<ExternalUser | null | undefined>;

/** Finds the instance of a class that a module provides, or creates one. */
export type InjectableOf = <T extends object>(type: Type<T>) => Promise<T>;

/** Where a request has its credential, as a security scheme of OpenAPI names it. */
export interface CredentialPlace {
  readonly in: 'header' | 'cookie';
  readonly name: string;
}

/** What `jwks()` and `fromRequest()` return. */
export interface UserSource {
  /** @default the header `Authorization`, as a bearer token */
  readonly credential?: CredentialPlace;
  /** Whether a guard identifies the user, behind the middleware of the application. @default false */
  readonly inGuard?: boolean;
  /**
   * What it decides by, for the snapshot of `declarest access`, as that of a plugin. Never a secret.
   * @default a hash of `start`
   */
  readonly decidesBy?: Readonly<Record<string, unknown>>;
  /** Is called once for each application, when its providers exist. */
  start(injectableOf: InjectableOf): Promise<Authenticate> | Authenticate;
}

type OneSource = Authenticate | Type<{ authenticate: Authenticate }> | UserSource;

/** A function, an injectable class with the method `authenticate`, `jwks()`, `fromRequest()`; or some, asked in turn. */
export type AuthenticateOption = OneSource | readonly OneSource[];

/** @param option for messages @throws InvalidOptionError */
export function sourceOf(option: string, authenticate: unknown): UserSource {
  if (Array.isArray(authenticate) && authenticate.length > 0)
    return firstOf(authenticate.map((each: unknown) => tokenSourceOf(option, each)));
  if (isObject(authenticate) && isFunction(authenticate['start'])) return authenticate as object as UserSource;
  if (isClass(authenticate) && 'authenticate' in (authenticate.prototype as object))
    return {
      decidesBy: { authenticate },
      async start(injectableOf) {
        const instance = await injectableOf(authenticate as Type<{ authenticate: Authenticate }>);
        return (request, context) => instance.authenticate(request, context);
      },
    };
  // A class cannot be called: its prototype, unlike that of a function, is not writable.
  if (isFunction(authenticate) && Object.getOwnPropertyDescriptor(authenticate, 'prototype')?.writable !== false)
    return { decidesBy: { authenticate }, start: () => authenticate as Authenticate };
  const expected = 'a function, a class with the method `authenticate`, jwks(…), fromRequest(…), or an array of them';
  throw new InvalidOptionError(option, expected, describe(authenticate), 'set for example jwks({ issuer, audience })');
}

/** @throws InvalidOptionError, also for a source that a guard asks */
export function tokenSourceOf(option: string, authenticate: unknown): UserSource {
  const source = sourceOf(option, authenticate);
  if (!source.inGuard) return source;
  const message = `${option} must read the token itself, got fromRequest(…). Use jwks(…) or a function.`;
  throw InvalidOptionError.withMessage(message);
}

const firstOf = (sources: readonly UserSource[]): UserSource => ({
  ...sources[0],
  decidesBy: Object.fromEntries(
    sources.flatMap(({ decidesBy, start }, place) =>
      Object.entries(decidesBy ?? { start }).map(([name, value]) => [`${place + 1}. ${name}`, value]),
    ),
  ),
  async start(injectableOf) {
    const started = await Promise.all(sources.map((source) => source.start(injectableOf)));
    return async (request, context) => {
      let user: Awaited<ReturnType<Authenticate>>;
      for (const find of started) user ??= await find(request, context);
      return user;
    };
  },
});
