import { createSecretKey, type KeyObject } from 'node:crypto';
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

/** Signs and verifies the tokens (JWT, RFC 7519, HS256). The only file that knows the JWT library. */
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
    try {
      const { header } = this.jwt.verify<{ header: Record<string, unknown> }>(token, {
        secret: this.key as never,
        algorithms: [ALGORITHM],
        complete: true,
      });
      // RFC 7515 §4.1.11: an extension that is not understood makes the token invalid.
      return 'crit' in header ? undefined : claimsOf(payloadOf(token));
    } catch {
      return undefined;
    }
  }
}

/** Parsed once: the library would also take a string that holds JSON for the claims. */
const payloadOf = (token: string): unknown =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as unknown;

/** The library checks `exp` and `nbf` where they are; that they are there, and of which form, is checked here. */
export function claimsOf(payload: unknown): TokenClaims | undefined {
  if (typeof payload !== 'object' || payload === null) return undefined;
  const { sub, email, roles, exp } = payload as Record<string, unknown>;
  if (typeof exp !== 'number' || !Number.isFinite(exp)) return undefined;
  if (typeof sub !== 'string' || sub === '') return undefined;
  if (!Array.isArray(roles) || !roles.every((role) => typeof role === 'string')) return undefined;
  return { sub, email: typeof email === 'string' ? email : '', roles };
}
