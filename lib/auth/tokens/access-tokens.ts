/** Access tokens: JSON Web Tokens signed with HS256. */
import { createSecretKey } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import type { AuthUser } from '../users/auth-user.js';
import { AUTH_OPTIONS } from '../users/options-token.js';
import { checkOwnClaims, readClaims, type TokenClaims } from './claims.js';

interface TokenOptions {
  /** The first one signs. */
  readonly jwtSecrets: readonly [string, ...string[]];
  readonly jwtExpirationHours: number;
  /** Replaces `jwtExpirationHours`. */
  readonly accessTokenSeconds?: number | undefined;
  readonly issuer?: string | undefined;
  readonly audience?: string | undefined;
  readonly claims?: ((user: AuthUser) => object | Promise<object>) | undefined;
}

/** Compact serialization (RFC 7515 §7.1) of two JSON objects, whose first letter is `e`, and 32 bytes of HMAC-SHA-256. */
const COMPACT = /^e[\w-]+\.e[\w-]+\.[\w-]{43}$/;

type OwnClaims = TokenClaims['own'] | undefined;

@Injectable()
export class AccessTokens {
  /** One for each secret: the first one signs, each verifies. */
  private readonly services: readonly [JwtService, ...JwtService[]];
  private readonly claims: TokenOptions['claims'];

  constructor(@Inject(AUTH_OPTIONS) options: TokenOptions) {
    const { jwtSecrets, jwtExpirationHours, accessTokenSeconds, issuer, audience, claims } = options;
    this.claims = claims;
    const expiresIn = accessTokenSeconds ?? Math.max(1, Math.round(jwtExpirationHours * 3600));
    const named = { ...(issuer !== undefined && { issuer }), ...(audience !== undefined && { audience }) };
    const service = (secret: string): JwtService =>
      new JwtService({
        // A `KeyObject` saves parsing the secret per token.
        secret: createSecretKey(Buffer.from(secret)),
        signOptions: { algorithm: 'HS256', expiresIn, ...named },
        // The algorithm is pinned (RFC 8725 §3.1).
        verifyOptions: { algorithms: ['HS256'], clockTolerance: 0, complete: true, ...named },
      });
    const [current, ...previous] = jwtSecrets;
    this.services = [service(current), ...previous.map(service)];
  }

  get hasOwnClaims(): boolean {
    return this.claims !== undefined;
  }

  /** Calls the option `claims`. @throws Error where it fails, and for what it must not return */
  async ownClaimsOf(user: AuthUser): Promise<OwnClaims> {
    return this.claims && checkOwnClaims(await this.claims(user));
  }

  signFor({ id, email, role }: AuthUser, own: OwnClaims, session?: string, login?: TokenClaims['login']): string {
    const claims = { sub: String(id), email: email ?? '', roles: [role], login, ...(own && { own }) };
    return this.sign({ ...claims, ...(session !== undefined && { sid: session }) });
  }

  sign({ sub, email, roles, sid, login, own }: TokenClaims): string {
    const payload = { sub, email, roles, ...(sid !== undefined && { sid }), ...login, ...own };
    return this.services[0].sign(payload);
  }

  verify(token: string): TokenClaims | undefined {
    if (!COMPACT.test(token)) return undefined;
    for (const service of this.services) {
      const verified = verifyBy(service, token);
      if (!verified) continue;
      const { header, payload } = verified;
      // RFC 7515 §4.1.11: a token with an extension that is not understood is invalid. The library ignores `crit`.
      if (header.crit !== undefined) return undefined;
      return readClaims(payload, this.hasOwnClaims);
    }
    return undefined;
  }
}

function verifyBy(service: JwtService, token: string): Verified | undefined {
  try {
    return service.verify<Verified>(token);
  } catch {
    return undefined;
  }
}

interface Verified {
  readonly header: { readonly crit?: unknown };
  readonly payload: unknown;
}
