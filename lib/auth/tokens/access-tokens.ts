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

/** What every token has. */
export interface TokenTerms {
  readonly expiresIn: number;
  readonly issuer?: string;
  readonly audience?: string;
}

/** A private key of the application. */
export interface TokenKey {
  /** Other secrets are derived from it. */
  readonly secret: Buffer;
  readonly signerOf: (terms: TokenTerms) => TokenSigner;
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
  private readonly claims: TokenOptions['claims'];

  constructor(@Inject(AUTH_OPTIONS) options: TokenOptions) {
    const { jwtSecrets, tokenKeys = [], jwtExpirationHours, accessTokenSeconds, issuer, audience, claims } = options;
    this.claims = claims;
    const expiresIn = accessTokenSeconds ?? Math.max(1, Math.round(jwtExpirationHours * 3600));
    const terms = { expiresIn, ...(issuer !== undefined && { issuer }), ...(audience !== undefined && { audience }) };
    const bySecret = jwtSecrets.map((secret) => signerBy(secret, terms));
    this.signers = [...tokenKeys.map((key) => key.signerOf(terms)), ...bySecret];
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

function signerBy(secret: string, { expiresIn, ...named }: TokenTerms): TokenSigner {
  const service = new JwtService({
    // A `KeyObject` saves parsing the secret per token.
    secret: createSecretKey(Buffer.from(secret)),
    signOptions: { algorithm: 'HS256', expiresIn, ...named },
    // The algorithm is pinned (RFC 8725 §3.1).
    verifyOptions: { algorithms: ['HS256'], clockTolerance: 0, complete: true, ...named },
  });
  return {
    sign: (claims) => service.sign(claims),
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
