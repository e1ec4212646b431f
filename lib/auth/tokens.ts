import { createSecretKey, type KeyObject } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { JwtService } from '@nestjs/jwt';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from './auth.options.js';
import { TextCache } from '../http/text-cache.js';
import { signedPayload } from './signed-token.js';

/** The claims of a token, and no others beside `iat` and `exp`. */
export interface TokenClaims {
  /** The user's id. */
  readonly sub: string;
  /** Empty where the user has none. */
  readonly email: string;
  readonly roles: readonly string[];
}

/** Who a token names, and from when until when, in seconds since 1970. */
interface KnownToken {
  readonly claims: TokenClaims;
  readonly nbf: number;
  readonly exp: number;
}

/** Signs and verifies the tokens (JWT, RFC 7519, HS256). The only file that knows the JWT library. */
@Injectable()
export class Tokens {
  /** Made once: out of a string it would be made anew on every call. */
  private readonly key: KeyObject;
  private jwt: JwtService | undefined;
  /** As old as the key, so that no key ever meets what another one has verified. */
  private readonly cache: TextCache<KnownToken> | undefined;

  constructor(@Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions) {
    this.key = createSecretKey(Buffer.from(options.jwtSecret));
    if (options.tokenCacheSize > 0) this.cache = new TextCache(options.tokenCacheSize);
  }

  async sign({ sub, email, roles }: TokenClaims): Promise<string> {
    // Loaded with the first login: an application waits 30 milliseconds less for its start.
    this.jwt ??= new (await import('@nestjs/jwt')).JwtService();
    return this.jwt.sign(
      { sub, email, roles },
      {
        secret: this.key as never,
        algorithm: 'HS256',
        expiresIn: Math.max(1, Math.round(this.options.jwtExpirationHours * 3600)),
      },
    );
  }

  /** The claims of a valid token; `undefined` for any other. What is kept is asked for its time on every call. */
  verify(token: string): TokenClaims | undefined {
    const kept = this.cache?.get(token);
    const known = kept ?? knownToken(signedPayload(token, this.key));
    if (!known || !isCurrent(known)) return undefined;
    if (this.cache && !kept) this.cache.set(token, frozen(known));
    return known.claims;
  }
}

function knownToken(payload: unknown): KnownToken | undefined {
  const claims = claimsOf(payload);
  if (!claims) return undefined;
  const { exp, nbf = 0 } = payload as { exp: number; nbf?: unknown };
  return typeof nbf === 'number' ? { claims, nbf, exp } : undefined;
}

function isCurrent({ nbf, exp }: KnownToken): boolean {
  const now = Math.floor(Date.now() / 1000);
  return nbf <= now && now < exp;
}

/** Later requests get the same claims: none may leave others behind. */
function frozen(known: KnownToken): KnownToken {
  Object.freeze(known.claims.roles);
  Object.freeze(known.claims);
  return known;
}

/** Of which form the claims are. That `exp` is there is checked here, when it is is not. */
export function claimsOf(payload: unknown): TokenClaims | undefined {
  if (typeof payload !== 'object' || payload === null) return undefined;
  const { sub, email, roles, exp } = payload as Record<string, unknown>;
  if (typeof exp !== 'number' || !Number.isFinite(exp)) return undefined;
  if (typeof sub !== 'string' || sub === '') return undefined;
  if (!Array.isArray(roles) || !roles.every((role) => typeof role === 'string')) return undefined;
  return { sub, email: typeof email === 'string' ? email : '', roles };
}
