/** How AuthModule identifies users: by its own access tokens, then by plugins. The database says what a user may now. */
import { Inject, Injectable } from '@nestjs/common';
import { guardedLookup, type Credentials } from '../../access/identity/authenticator.js';
import type { CredentialReader, Identified } from '../../access/identity/authenticator.js';
import { BASE_ROLE, CallerRoles, CREDENTIAL_ROLES, type Authentication } from '../../http/caller.js';
import type { HttpRequest } from '../../http/http-request.js';
import { Application } from '../../routes/application.js';
import { ProxyWarning } from '../throttle/proxy-warning.js';
import { AccessTokens } from '../tokens/access-tokens.js';
import { AUTH_OPTIONS } from '../users/options-token.js';
import { UserRepository } from '../users/user.repository.js';
import { AuthPlugins } from './auth-plugins.js';

@Injectable()
export class AccountCredentials implements Credentials {
  readonly readers: CredentialReader[];
  private readonly proxies = new ProxyWarning();

  constructor(
    private readonly tokens: AccessTokens,
    private readonly users: UserRepository,
    @Inject(AUTH_OPTIONS) private readonly options: { readonly parseId: (text: string) => string | number },
    plugins: AuthPlugins,
    private readonly application: Application,
  ) {
    this.readers = [{ read: (request, known) => this.readToken(request, known) }, ...plugins.readers];
  }

  reload(known: Authentication): Promise<Authentication> {
    return guardedLookup('The user of a token', () => this.readUser(known));
  }

  readToken(request: HttpRequest, { principal: found, bearerWasSent, token }: Identified): Identified | undefined {
    if (found) return undefined;
    this.proxies.check(request, this.application.adapter);
    const claims = token === undefined ? undefined : this.tokens.verify(token);
    if (!claims) return undefined;
    const { sub, email, roles, sid, login, own, issuedAt } = claims;
    const principal = { id: this.options.parseId(sub), email, roles, ...own };
    return { bearerWasSent, principal, issuedAt, ...(sid !== undefined && { session: sid }), ...(login && { login }) };
  }

  private async readUser(known: Authentication): Promise<Authentication> {
    const { principal, bearerWasSent, token, isKey } = known;
    if (!principal) return known;
    const user = await this.users.findById(String(principal.id));
    if (!user?.active) return { bearerWasSent };
    if (bearerWasSent && token === undefined) return { ...known, principal: { ...principal, roles: [user.role] } };
    // A plugin may give fewer roles than the user has, and no others.
    const granted = this.application.stateOf(CallerRoles).expand?.([user.role]) ?? [];
    const isGranted = (role: string): boolean => role === BASE_ROLE || role === user.role || granted.includes(role);
    const keyRole = isKey ? [CREDENTIAL_ROLES.key] : [];
    const roles = [...principal.roles.filter(isGranted), ...keyRole];
    const own = await this.tokens.ownClaimsOf(user);
    const id = this.options.parseId(String(principal.id));
    const present = { ...own, id, email: user.email ?? '', roles };
    if (roles.includes(user.role)) return { ...known, principal: present };
    return { ...known, principal: present, whole: [{ ...present, roles: [user.role, ...keyRole] }] };
  }
}
