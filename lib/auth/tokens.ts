/** Access tokens, and the principal of a request, read from the header `Authorization: Bearer <token>`. */
import { createSecretKey } from 'node:crypto';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import type { Authentication, Authenticator } from '../access/principal.js';
import { headerValues, type HttpRequest } from '../http/request-facts.js';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from './auth.options.js';
import { readClaims, type TokenClaims } from './claims.js';
import { SessionChecks } from './sessions/session-checks.js';

/** Compact serialization (RFC 7515 §7.1) of two JSON objects, whose first letter is `e`, and 32 bytes of HMAC-SHA-256. */
const COMPACT = /^e[\w-]+\.e[\w-]+\.[\w-]{43}$/;

@Injectable()
export class Tokens {
  /** One for each secret: the first one signs, each verifies. */
  private readonly services: readonly [JwtService, ...JwtService[]];
  /** Whether the principal has claims of the application. */
  private readonly hasOwnClaims: boolean;
  /** The lifetime of a token. */
  readonly seconds: number;

  constructor(@Inject(AUTH_OPTIONS) options: ResolvedAuthOptions) {
    const { jwtSecrets, jwtExpirationHours, sessions, issuer, audience, claims } = options;
    this.seconds = sessions?.accessTokenSeconds ?? Math.max(1, Math.round(jwtExpirationHours * 3600));
    this.hasOwnClaims = claims !== undefined;
    const named = { ...(issuer !== undefined && { issuer }), ...(audience !== undefined && { audience }) };
    const service = (secret: string): JwtService =>
      new JwtService({
        // A `KeyObject` saves parsing the secret per token.
        secret: createSecretKey(Buffer.from(secret)),
        signOptions: { algorithm: 'HS256', expiresIn: this.seconds, ...named },
        // The algorithm is pinned (RFC 8725 §3.1).
        verifyOptions: { algorithms: ['HS256'], clockTolerance: 0, complete: true, ...named },
      });
    const [current, ...previous] = jwtSecrets;
    this.services = [service(current), ...previous.map(service)];
  }

  sign({ sub, email, roles, sid, own }: TokenClaims): string {
    const payload = { sub, email, roles, ...(sid !== undefined && { sid }), ...own };
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

/** RFC 6750 §2.1; the scheme is case-insensitive (RFC 9110 §11.1). */
const BEARER = /^Bearer(?:$| +(?<token>[A-Za-z0-9._~+/-]+=*) *$| )/i;

@Injectable()
export class BearerAuthenticator implements Authenticator {
  private readonly checks: SessionChecks | undefined;

  constructor(
    private readonly tokens: Tokens,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    @Optional() checks?: SessionChecks,
  ) {
    this.checks = checks?.isImmediate ? checks : undefined;
  }

  authenticate(request: HttpRequest): Authentication {
    const values = headerValues(request, 'authorization');
    const bearer = values.map((value) => BEARER.exec(value)).find((match) => match !== null);
    if (!bearer) return { bearerWasSent: false };
    // Two Authorization headers are refused: a proxy in front may have checked the other one.
    const token = values.length === 1 ? bearer.groups?.['token'] : undefined;
    const claims = token === undefined ? undefined : this.tokens.verify(token);
    if (!claims) return { bearerWasSent: true };
    const { sub, email, roles, sid, own } = claims;
    const principal = { id: this.options.parseId(sub), email, roles, ...own };
    return { bearerWasSent: true, principal, ...(sid !== undefined && { session: sid }) };
  }

  confirm(authentication: Authentication): Promise<Authentication> | undefined {
    return authentication.principal && this.checks?.confirm(authentication);
  }
}
