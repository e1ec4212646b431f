/** Tokens, and the principal of a request, read from the header `Authorization: Bearer <token>`. */
import { createSecretKey } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import type { Authentication, Authenticator } from '../access/principal.js';
import type { Principal } from '../http/principal.js';
import { headerValues, type HttpRequest } from '../http/request-facts.js';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from './auth.options.js';

/** The claims of a token (RFC 7519), besides `iat` and `exp`. */
export interface TokenClaims extends Omit<Principal, 'id'> {
  readonly sub: string;
}

/** Compact serialization (RFC 7515 §7.1) of two JSON objects, whose first letter is `e`, and 32 bytes of HMAC-SHA-256. */
const COMPACT = /^e[\w-]+\.e[\w-]+\.[\w-]{43}$/;

@Injectable()
export class Tokens {
  private readonly jwt: JwtService;

  constructor(@Inject(AUTH_OPTIONS) { jwtSecret, jwtExpirationHours }: ResolvedAuthOptions) {
    this.jwt = new JwtService({
      // A `KeyObject` saves parsing the secret per token.
      secret: createSecretKey(Buffer.from(jwtSecret)),
      signOptions: { algorithm: 'HS256', expiresIn: Math.max(1, Math.round(jwtExpirationHours * 3600)) },
      // The algorithm is pinned (RFC 8725 §3.1).
      verifyOptions: { algorithms: ['HS256'], clockTolerance: 0, complete: true },
    });
  }

  sign({ sub, email, roles }: TokenClaims): string {
    return this.jwt.sign({ sub, email, roles });
  }

  verify(token: string): TokenClaims | undefined {
    if (!COMPACT.test(token)) return undefined;
    try {
      const { header, payload } = this.jwt.verify<{ header: { crit?: unknown }; payload: unknown }>(token);
      // RFC 7515 §4.1.11: a token with an extension that is not understood is invalid. The library ignores `crit`.
      return header.crit === undefined ? readClaims(payload) : undefined;
    } catch {
      return undefined;
    }
  }
}

/** Checks the types of the claims. The library has checked `exp` and `nbf` against the clock, but accepts their absence. */
export function readClaims(payload: unknown): TokenClaims | undefined {
  if (typeof payload !== 'object' || payload === null) return undefined;
  const { sub, email, roles, exp } = payload as Record<string, unknown>;
  if (!Number.isFinite(exp)) return undefined;
  if (typeof sub !== 'string' || sub === '') return undefined;
  if (!Array.isArray(roles) || !roles.every((role) => typeof role === 'string')) return undefined;
  return { sub, email: typeof email === 'string' ? email : '', roles };
}

/** RFC 6750 §2.1; the scheme is case-insensitive (RFC 9110 §11.1). */
const BEARER = /^Bearer(?:$| +(?<token>[A-Za-z0-9._~+/-]+=*) *$| )/i;

@Injectable()
export class BearerAuthenticator implements Authenticator {
  constructor(
    private readonly tokens: Tokens,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
  ) {}

  authenticate(request: HttpRequest): Authentication {
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
