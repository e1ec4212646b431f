/** An endpoint of accounts as a value: its route, who may call it, what it does, and how a document describes it. */
import { Controller, Header, HttpCode, Inject, Injectable, Optional, Req, RequestMapping } from '@nestjs/common';
import { RequestMethod, UseFilters, type Type } from '@nestjs/common';
import { AccessRules } from '../../access/access-rules.js';
import { authenticationOf } from '../../access/principal.js';
import { hasBody, jsonBodyOf, type JsonObject } from '../../http/json-body.js';
import type { Principal } from '../../http/principal.js';
import { AuthenticationRequired } from '../../http/refusal.js';
import type { HttpRequest } from '../../http/request-facts.js';
import { declareRoute, type DeclaredRoute } from '../../routes/declared-route.js';
import { failureFilter } from '../../routes/failure-filter.js';
import { UserAccounts } from '../accounts/user-accounts.js';
import { AuthEvents } from '../users/auth-events.js';
import { AUTH_OPTIONS, type ResolvedAuthOptions, type ResolvedStaticOptions } from '../options/auth.options.js';
import { clientFactsOf } from '../throttle/client-info.js';
import { Logins } from '../accounts/logins.js';
import { MailedLinks } from '../links/mailed-links.js';
import { Registration } from '../accounts/user-field-rules.js';
import { Sessions } from '../sessions/sessions.js';
import { Attempts } from '../throttle/attempts.js';
import { UserRepository } from '../users/user.repository.js';
import type { DocumentParts, EndpointDocument } from './endpoint-document.js';

@Injectable()
export class AccountServices {
  constructor(
    readonly users: UserRepository,
    readonly accounts: UserAccounts,
    readonly registration: Registration,
    readonly logins: Logins,
    readonly attempts: Attempts,
    readonly events: AuthEvents,
    readonly rules: AccessRules,
    @Inject(AUTH_OPTIONS) readonly options: ResolvedAuthOptions,
    /** For endpoints that exist only with the options that provide them. */
    @Optional() readonly sessions: Sessions,
    @Optional() readonly links: MailedLinks,
  ) {}
}

export interface EndpointCall {
  readonly request: HttpRequest;
  readonly address: string | undefined;
  readonly body: JsonObject;
  readonly id: string;
  /** @throws AuthenticationRequired (401) where a rule of the application opened the route */
  readonly user: () => Principal;
}

export interface Endpoint {
  readonly name: string;
  readonly route: `${'GET' | 'POST' | 'PATCH' | 'DELETE'} ${string}`;
  /** Where the application has no rule for the very same path. Of those with roles, the user is read again. */
  readonly access: NonNullable<DeclaredRoute['access']>;
  readonly status: number;
  readonly body?: 'required' | 'optional';
  readonly sendsTokens?: true;
  readonly isDeclared?: (options: ResolvedStaticOptions) => boolean;
  run(services: AccountServices, call: EndpointCall): unknown;
  readonly describe: (parts: DocumentParts) => EndpointDocument;
}

const AuthFailureFilter = failureFilter(({ message, members }) => ({ ...members, success: false, message }));

/** Each call creates a class, because routes are metadata of the class. */
export function endpointController(basePath: string, endpoints: readonly Endpoint[]): Type<unknown> {
  @Controller(basePath)
  @UseFilters(AuthFailureFilter)
  class AccountController {
    constructor(readonly services: AccountServices) {}
  }
  const { prototype } = AccountController;
  for (const endpoint of endpoints) {
    const { name, route, access, status, sendsTokens } = endpoint;
    const methods = {
      async [name](this: AccountController, request: HttpRequest): Promise<unknown> {
        return endpoint.run(this.services, callOf(endpoint, request));
      },
    };
    const [verb, path] = route.split(' ') as [keyof typeof RequestMethod, string];
    const decorators = [
      RequestMapping({ method: RequestMethod[verb], path }),
      HttpCode(status),
      ...(sendsTokens ? [Header('Cache-Control', 'no-store')] : []),
    ];
    Object.assign(prototype, methods);
    Req()(prototype, name, 0);
    const value = methods[name] as object;
    for (const decorate of decorators) decorate(prototype, name, { value });
    const readsCaller = (): boolean => typeof access === 'object';
    declareRoute(value, { declaredBy: 'AuthModule option `authBasePath`', access, readsCaller });
  }
  return AccountController;
}

function callOf({ body }: Endpoint, request: HttpRequest): EndpointCall {
  const isSent = body === 'required' || (body === 'optional' && hasBody(request));
  return {
    request,
    address: clientFactsOf(request).address,
    body: isSent ? jsonBodyOf(request) : {},
    id: String(request.params?.['id']),
    user: () => {
      const { principal, bearerWasSent } = authenticationOf(request) ?? {};
      if (principal) return principal;
      throw new AuthenticationRequired(bearerWasSent === true);
    },
  };
}
