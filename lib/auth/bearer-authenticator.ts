import { Inject, Injectable } from '@nestjs/common';
import { headerValues, type HttpRequest } from '../http/request-facts.js';
import type { Authenticator, Principal } from '../access/principal.js';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from './auth.options.js';
import { Tokens } from './tokens.js';

/** RFC 6750 §2.1; the scheme's case does not matter (RFC 9110 §11.1). */
const BEARER = /^Bearer(?:$| +(?<token>[A-Za-z0-9._~+/-]+=*) *$| )/i;

/** `Authorization: Bearer <token>` → who sent the request. */
@Injectable()
export class BearerAuthenticator implements Authenticator {
  constructor(
    private readonly tokens: Tokens,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
  ) {}

  authenticate(request: HttpRequest): { principal?: Principal; bearerWasSent: boolean } {
    const values = headerValues(request, 'authorization');
    const bearer = values.map((value) => BEARER.exec(value)).find((match) => match !== null);
    if (!bearer) return { bearerWasSent: false };
    // Two credentials in one request are none: whoever forwarded it may have read the other.
    const token = values.length === 1 ? bearer.groups?.['token'] : undefined;
    const claims = token === undefined ? undefined : this.tokens.verify(token);
    if (!claims) return { bearerWasSent: true };
    const { sub, email, roles } = claims;
    return { bearerWasSent: true, principal: { id: this.options.idOf(sub), email, roles } };
  }
}
