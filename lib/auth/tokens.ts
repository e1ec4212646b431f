import { createSecretKey } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import type { Principal } from '../http/principal.js';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from './auth.options.js';

/** The claims of a token (RFC 7519), besides `iat` and `exp`. */
export interface TokenClaims extends Omit<Principal, 'id'> {
  /** The user's id as text. */
  readonly sub: string;
}

/** Compact serialization (RFC 7515 §7.1) of two JSON objects, whose first letter is `e`, and 32 bytes of HMAC-SHA-256. */
const COMPACT = /^e[\w-]+\.e[\w-]+\.[\w-]{43}$/;

/** Signs and verifies tokens. The algorithm is pinned (RFC 8725 §3.1). */
@Injectable()
export class Tokens {
  private readonly jwt: JwtService;

  constructor(@Inject(AUTH_OPTIONS) { jwtSecret, jwtExpirationHours }: ResolvedAuthOptions) {
    this.jwt = new JwtService({
      // A `KeyObject` saves parsing the secret per token.
      secret: createSecretKey(Buffer.from(jwtSecret)),
      signOptions: { algorithm: 'HS256', expiresIn: Math.max(1, Math.round(jwtExpirationHours * 3600)) },
      verifyOptions: { algorithms: ['HS256'], clockTolerance: 0, complete: true },
    });
  }

  sign({ sub, email, roles }: TokenClaims): string {
    return this.jwt.sign({ sub, email, roles });
  }

  /** @returns the claims of a valid token, `undefined` for any other text */
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
