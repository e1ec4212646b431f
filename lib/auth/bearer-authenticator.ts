import { Inject, Injectable } from '@nestjs/common';
import { headerValues, type HttpRequest } from '../http/request-facts.js';
import type { Authenticator } from '../access/principal.js';
import type { Principal } from '../http/principal.js';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from './auth.options.js';
import { Tokens } from './tokens.js';

/** RFC 6750 §2.1; the scheme is case-insensitive (RFC 9110 §11.1). */
const BEARER = /^Bearer(?:$| +(?<token>[A-Za-z0-9._~+/-]+=*) *$| )/i;

/** Reads the principal from the header `Authorization: Bearer <token>`. */
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
    // Two Authorization headers are refused: a proxy in front may have checked the other one.
    const token = values.length === 1 ? bearer.groups?.['token'] : undefined;
    const claims = token === undefined ? undefined : this.tokens.verify(token);
    if (!claims) return { bearerWasSent: true };
    const { sub, email, roles } = claims;
    return { bearerWasSent: true, principal: { id: this.options.parseId(sub), email, roles } };
  }
}
