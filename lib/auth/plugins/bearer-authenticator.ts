/** Identifies the user of a request, by its header `Authorization: Bearer <token>` or by a plugin. */
import { Inject, Injectable } from '@nestjs/common';
import { bearerOf, lookUp, type Authentication, type Authenticator } from '../../access/principal.js';
import { BASE_ROLE, CallerRoles, CREDENTIAL_ROLES } from '../../http/principal.js';
import type { HttpRequest } from '../../http/http-request.js';
import { Application } from '../../routes/application.js';
import { ProxyWarning } from '../throttle/proxy-warning.js';
import { AccessTokens } from '../tokens/access-tokens.js';
import { AUTH_OPTIONS } from '../users/options-token.js';
import { UserRepository } from '../users/user.repository.js';
import { AuthPlugins } from './auth-plugins.js';

@Injectable()
export class BearerAuthenticator implements Authenticator {
  private readonly exempted = new Set<string>();
  private readonly proxies = new ProxyWarning();

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
    this.proxies.check(request, this.application.adapter);
    const { wasSent: bearerWasSent, token } = bearerOf(request);
    const claims = token === undefined ? undefined : this.tokens.verify(token);
    if (!claims) return { bearerWasSent, token };
    const { sub, email, roles, sid, login, own, issuedAt } = claims;
    const principal = { id: this.options.parseId(sub), email, roles, ...own };
    return { bearerWasSent, principal, issuedAt, ...(sid !== undefined && { session: sid }), ...(login && { login }) };
  }

  confirm(bearer: Authentication, request: HttpRequest): Promise<Authentication> | undefined {
    if (this.isExempted(bearer)) return undefined;
    const found = this.plugins.authenticate(request, bearer);
    return found.length > 0 ? this.combine(bearer, found) : undefined;
  }

  /** A bearer token decides alone: a plugin can confirm or refuse it, or know a token that the package did not sign. */
  private async combine(bearer: Authentication, found: readonly Promise<Authentication>[]): Promise<Authentication> {
    const all = await Promise.all(found);
    const failed = all.find(({ failure }) => failure);
    if (failed) return failed;
    const { bearerWasSent } = bearer;
    if (bearer.principal) return all.every(({ principal }) => principal) ? bearer : { bearerWasSent };
    const known = all.find((each) => each.principal && each.bearerWasSent === bearerWasSent);
    // A malformed header has no token that a plugin could know.
    if (!known?.principal || (bearerWasSent && bearer.token === undefined)) return bearer;
    const { principal, isKey = false } = known;
    const id = this.options.parseId(String(principal.id));
    return this.readCaller({ ...bearer, isKey, principal: { ...principal, id } });
  }

  async readCaller(known: Authentication): Promise<Authentication> {
    const { principal, bearerWasSent, token, isKey } = known;
    if (!principal || this.isExempted(known)) return known;
    return lookUp('The user of a token', async () => {
      const user = await this.users.findById(String(principal.id));
      if (!user?.active) return { bearerWasSent };
      if (bearerWasSent && token === undefined) return { ...known, principal: { ...principal, roles: [user.role] } };
      // A plugin may give fewer roles than the user has, and no others.
      const granted = this.application.stateOf(CallerRoles).expand?.([user.role]) ?? [];
      const isGranted = (role: string): boolean => role === BASE_ROLE || role === user.role || granted.includes(role);
      const keyRole = isKey ? [CREDENTIAL_ROLES.key] : [];
      const roles = [...principal.roles.filter(isGranted), ...keyRole];
      const own = await this.tokens.ownClaimsOf(user);
      const present = { ...own, id: principal.id, email: user.email ?? '', roles };
      if (roles.includes(user.role)) return { ...known, principal: present };
      return { ...known, principal: present, whole: [{ ...present, roles: [user.role, ...keyRole] }] };
    });
  }

  private isExempted({ session }: Authentication): boolean {
    return session !== undefined && this.exempted.has(session);
  }
}
