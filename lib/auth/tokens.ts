import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from './auth.options.js';

/** The claims of a token, and no others beside `iat` and `exp`. */
export interface TokenClaims {
  /** The user's id. */
  readonly sub: string;
  /** Empty where the user has none. */
  readonly email: string;
  readonly roles: readonly string[];
}

const ALGORITHM = 'HS256';

/** Signs and verifies the tokens (JWT, RFC 7519, HS256). */
@Injectable()
export class Tokens {
  private readonly key: KeyObject;
  private readonly jwt = new JwtService();

  constructor(@Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions) {
    // A key made once: with a string the library tries to read a public key from it on every call.
    this.key = createSecretKey(Buffer.from(options.jwtSecret));
  }

  sign({ sub, email, roles }: TokenClaims): string {
    return this.jwt.sign(
      { sub, email, roles },
      {
        secret: this.key as never,
        algorithm: ALGORITHM,
        expiresIn: Math.max(1, Math.round(this.options.jwtExpirationHours * 3600)),
      },
    );
  }

  /** The claims of a valid token; `undefined` for any other (RFC 8725 §3.1: the algorithm is pinned, not read). */
  verify(token: string): TokenClaims | undefined {
    const { header, payload, signature } = COMPACT.exec(token)?.groups ?? {};
    if (header === undefined || payload === undefined || signature === undefined) return undefined;
    const expected = createHmac('sha256', this.key).update(`${header}.${payload}`).digest('base64url');
    // Compared as text: another spelling of the same bytes is another token.
    if (signature.length !== expected.length || !timingSafeEqual(Buffer.from(signature), Buffer.from(expected)))
      return undefined;
    return isHeader(parsed(header)) ? claimsOf(parsed(payload), Math.floor(Date.now() / 1000)) : undefined;
  }
}

/** Three parts in base64url without padding (RFC 7515 §3.1, §7.1). */
const COMPACT = /^(?<header>[\w-]+)\.(?<payload>[\w-]+)\.(?<signature>[\w-]+)$/;

/** @returns `undefined` for what is no JSON */
function parsed(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString());
  } catch {
    return undefined;
  }
}

/** RFC 7515 §4.1.11: an extension that is not understood makes the token invalid. */
const isHeader = (header: unknown): boolean =>
  typeof header === 'object' && header !== null && 'alg' in header && header.alg === ALGORITHM && !('crit' in header);

/**
 * RFC 7519 §4.1.4 and §4.1.5: `exp`, which is required, and `nbf`.
 *
 * @param now seconds since 1970
 */
export function claimsOf(payload: unknown, now: number): TokenClaims | undefined {
  if (typeof payload !== 'object' || payload === null) return undefined;
  const { sub, email, roles, exp, nbf } = payload as Record<string, unknown>;
  if (typeof exp !== 'number' || !Number.isFinite(exp) || now >= exp) return undefined;
  if (nbf !== undefined && (typeof nbf !== 'number' || nbf > now)) return undefined;
  if (typeof sub !== 'string' || sub === '') return undefined;
  if (!Array.isArray(roles) || !roles.every((role) => typeof role === 'string')) return undefined;
  return { sub, email: typeof email === 'string' ? email : '', roles };
}
