/** Access tokens: JSON Web Tokens signed with HS256, or by private keys. */
import { createSecretKey } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import type { AuthUser } from '../users/auth-user.js';
import { AUTH_OPTIONS } from '../users/options-token.js';
import { checkOwnClaims, readClaims, type TokenClaims } from './claims.js';

export interface TokenSigner {
  readonly sign: (claims: object) => string;
  /** @returns the claims of a token that is valid now; `undefined` where it is of another signer, `null` where it is forged */
  readonly verify: (token: string) => unknown;
}

/** What every token names. */
export type TokenNames = { readonly issuer?: string; readonly audience?: string };

/** A private key of the application. */
export interface TokenKey {
  /** Other secrets are derived from it. */
  readonly secret: Buffer;
  readonly signerOf: (named: TokenNames) => TokenSigner;
}

interface TokenOptions {
  /** The first one signs, where there is no key. */
  readonly jwtSecrets: readonly string[];
  readonly tokenKeys?: readonly TokenKey[];
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
  /** One for each key and secret: the first one signs, each verifies. */
  private readonly signers: readonly TokenSigner[];
  constructor(@Inject(AUTH_OPTIONS) private readonly options: TokenOptions) {
    const { jwtSecrets, tokenKeys = [], issuer, audience } = options;
    const named = { ...(issuer !== undefined && { issuer }), ...(audience !== undefined && { audience }) };
    const bySecret = jwtSecrets.map((secret) => signerBy(secret, named));
    this.signers = [...tokenKeys.map((key) => key.signerOf(named)), ...bySecret];
  }

  get hasOwnClaims(): boolean {
    return this.options.claims !== undefined;
  }

  /** Calls the option `claims`. @throws Error where it fails, and for what it must not return */
  async ownClaimsOf(user: AuthUser): Promise<OwnClaims> {
    const { claims } = this.options;
    return claims && checkOwnClaims(await claims(user));
  }

  signFor({ id, email, role }: AuthUser, own: OwnClaims, session?: string, login?: TokenClaims['login']): string {
    const claims = { sub: String(id), email: email ?? '', roles: [role], login, ...(own && { own }) };
    return this.sign({ ...claims, ...(session !== undefined && { sid: session }) });
  }

  sign({ sub, email, roles, sid, login, own }: TokenClaims): string {
    const { jwtExpirationHours: hours, accessTokenSeconds, issuer: iss, audience: aud } = this.options;
    const iat = Math.floor(Date.now() / 1000);
    const exp = iat + (accessTokenSeconds ?? Math.max(1, Math.round(hours * 3600)));
    const payload = { sub, email, roles, ...(sid !== undefined && { sid }), ...login, ...own, iat, exp, iss, aud };
    return (this.signers[0] as TokenSigner).sign(payload);
  }

  verify(token: string): TokenClaims | undefined {
    for (const { verify } of this.signers) {
      const claims = verify(token);
      if (claims !== undefined) return readClaims(claims, this.hasOwnClaims);
    }
    return undefined;
  }
}

function signerBy(secret: string, named: TokenNames): TokenSigner {
  const service = new JwtService({
    // A `KeyObject` saves parsing the secret per token.
    secret: createSecretKey(Buffer.from(secret)),
    signOptions: { algorithm: 'HS256', header: { alg: 'HS256', typ: 'JWT' } },
    // The algorithm is pinned (RFC 8725 §3.1).
    verifyOptions: { algorithms: ['HS256'], clockTolerance: 0, complete: true, ...named },
  });
  return {
    // As text: the library fails for the names of claims that `Object.prototype` has.
    sign: (claims) => service.sign(Buffer.from(JSON.stringify(claims))),
    verify(token) {
      if (!COMPACT.test(token)) return undefined;
      try {
        const { header, payload } = service.verify<{ header: { crit?: unknown }; payload: unknown }>(token);
        // RFC 7515 §4.1.11: a token with an extension that is not understood is invalid. The library ignores `crit`.
        return header.crit === undefined ? payload : null;
      } catch {
        return undefined;
      }
    },
  };
}
