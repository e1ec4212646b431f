/** Identifies the user of a request, by its header `Authorization: Bearer <token>` or by a plugin. */
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { Authentication, Authenticator } from '../../access/principal.js';
import { DatabaseUnavailable } from '../../entities/database-errors.js';
import { ServiceUnavailable } from '../../http/failure.js';
import { BASE_ROLE, CallerRoles, type Principal } from '../../http/principal.js';
import { headerValues, type HttpRequest } from '../../http/request-facts.js';
import { Application } from '../../routes/application.js';
import { AccessTokens } from '../tokens/access-tokens.js';
import { AUTH_OPTIONS } from '../users/options-token.js';
import { UserRepository } from '../users/user.repository.js';
import { AuthPlugins } from './auth-plugins.js';

/** RFC 6750 §2.1; the scheme is case-insensitive (RFC 9110 §11.1). */
const BEARER = /^Bearer(?:$| +(?<token>[A-Za-z0-9._~+/-]+=*) *$| )/i;

@Injectable()
export class BearerAuthenticator implements Authenticator {
  private readonly exempted = new Set<string>();

  constructor(
    private readonly tokens: AccessTokens,
    private readonly users: UserRepository,
    @Inject(AUTH_OPTIONS) private readonly options: { readonly parseId: (text: string) => string | number },
    private readonly plugins: AuthPlugins,
    private readonly application: Application,
  ) {}

  /** For declarest/testing, whose users need not exist: tokens of this session are judged by themselves. */
  exempt(session: string): void {
    this.exempted.add(session);
  }

  authenticate(request: HttpRequest): Authentication {
    const values = headerValues(request, 'authorization');
    const bearer = values.map((value) => BEARER.exec(value)).find((match) => match !== null);
    if (!bearer) return { bearerWasSent: false };
    // Two Authorization headers are refused: a proxy in front may have checked the other one.
    const token = values.length === 1 ? bearer.groups?.['token'] : undefined;
    const claims = token === undefined ? undefined : this.tokens.verify(token);
    if (!claims) return { bearerWasSent: true };
    const { sub, email, roles, sid, own } = claims;
    const principal = { id: this.options.parseId(sub), email, roles, ...own };
    return { bearerWasSent: true, principal, ...(sid !== undefined && { session: sid }) };
  }

  confirm(bearer: Authentication, request: HttpRequest): Promise<Authentication> | undefined {
    if (this.isExempted(bearer)) return undefined;
    const found = this.plugins.authenticate(request, bearer);
    if (found.length === 0) return undefined;
    const known = found.map(([plugin, each]) => lookUp(`The credential that the plugin ${plugin} reads`, () => each));
    return Promise.all(known).then((all) => this.combine(bearer, all));
  }

  /** A request with a bearer token has the user of the token, or none. */
  private async combine(bearer: Authentication, found: readonly Authentication[]): Promise<Authentication> {
    const failed = found.find(({ failure }) => failure);
    if (failed) return failed;
    if (bearer.bearerWasSent) return found.every(({ principal }) => principal) ? bearer : { bearerWasSent: true };
    const principal = found.find((each) => each.principal)?.principal;
    return principal ? this.limitToUser(principal) : bearer;
  }

  /** A plugin gives its principal no role that the user has not got. */
  private limitToUser(principal: Principal): Promise<Authentication> {
    return lookUp('The user of a plugin', async () => {
      const user = await this.users.findById(String(principal.id));
      if (!user?.active) return { bearerWasSent: false };
      const { expand } = this.application.stateOf(CallerRoles);
      const granted = [BASE_ROLE, user.role, ...(expand?.([user.role]) ?? [])];
      const roles = principal.roles.filter((role) => granted.includes(role));
      const id = this.options.parseId(String(user.id));
      return { bearerWasSent: false, principal: { ...principal, id, email: user.email ?? '', roles } };
    });
  }

  async readCaller(authentication: Authentication): Promise<Authentication> {
    const { principal } = authentication;
    if (!principal || this.isExempted(authentication)) return authentication;
    return lookUp('The user of a token', async () => {
      const user = await this.users.findById(String(principal.id));
      if (!user?.active) return { bearerWasSent: true };
      return { ...authentication, principal: { ...principal, roles: [user.role] } };
    });
  }

  private isExempted({ session }: Authentication): boolean {
    return session !== undefined && this.exempted.has(session);
  }
}

/** Where it fails, it is not known whether a credential is valid: the request is 503 where it needs one. */
export function lookUp(what: string, work: () => Promise<Authentication>): Promise<Authentication> {
  return work().catch((error: unknown): Authentication => {
    if (error instanceof ServiceUnavailable) return { bearerWasSent: true, failure: error };
    const cause = error instanceof Error ? error.stack : undefined;
    new Logger('AuthModule').error(`${what} could not be read.`, cause);
    return { bearerWasSent: true, failure: new DatabaseUnavailable({ cause: error }) };
  });
}
