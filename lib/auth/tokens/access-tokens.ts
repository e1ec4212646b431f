/** Access tokens, and the principal of a request, read from the header `Authorization: Bearer <token>`. */
import { createSecretKey } from 'node:crypto';
import { Inject, Injectable, Logger, Optional } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import type { Authentication, Authenticator } from '../../access/principal.js';
import { DatabaseUnavailable } from '../../entities/database-errors.js';
import { ServiceUnavailable } from '../../http/failure.js';
import { headerValues, type HttpRequest } from '../../http/request-facts.js';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth.options.js';
import { readClaims, type TokenClaims } from './claims.js';
import { SessionChecks } from '../sessions/session-checks.js';
import { UserRepository } from '../users/user.repository.js';

/** Compact serialization (RFC 7515 §7.1) of two JSON objects, whose first letter is `e`, and 32 bytes of HMAC-SHA-256. */
const COMPACT = /^e[\w-]+\.e[\w-]+\.[\w-]{43}$/;

@Injectable()
export class Tokens {
  /** One for each secret: the first one signs, each verifies. */
  private readonly services: readonly [JwtService, ...JwtService[]];
  private readonly hasOwnClaims: boolean;
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
  private readonly logger = new Logger('AuthModule');
  private readonly exempted = new Set<string>();

  constructor(
    private readonly tokens: Tokens,
    private readonly users: UserRepository,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    @Optional() checks?: SessionChecks,
  ) {
    this.checks = checks?.isImmediate ? checks : undefined;
  }

  /** For declarest/testing, whose users need not exist: tokens of this session are judged by themselves. */
  exempt(session: string): void {
    this.exempted.add(session);
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
    const { checks } = this;
    if (!checks || !this.isLookedUp(authentication)) return undefined;
    return this.lookUp('session', () => checks.confirm(authentication));
  }

  async readCaller(authentication: Authentication): Promise<Authentication> {
    const { principal } = authentication;
    if (!principal || !this.isLookedUp(authentication)) return authentication;
    return this.lookUp('user', async () => {
      const user = await this.users.findById(String(principal.id));
      if (!user?.active) return { bearerWasSent: true };
      return { ...authentication, principal: { ...principal, roles: [user.role] } };
    });
  }

  private isLookedUp({ principal, session }: Authentication): boolean {
    return principal !== undefined && (session === undefined || !this.exempted.has(session));
  }

  private lookUp(what: string, work: () => Promise<Authentication>): Promise<Authentication> {
    return work().catch((error: unknown): Authentication => {
      if (error instanceof ServiceUnavailable) return { bearerWasSent: true, failure: error };
      const cause = error instanceof Error ? error.stack : undefined;
      this.logger.error(`The ${what} of a token could not be read.`, cause);
      return { bearerWasSent: true, failure: new DatabaseUnavailable({ cause: error }) };
    });
  }
}
