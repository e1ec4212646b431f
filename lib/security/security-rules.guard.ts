import { Injectable, Logger, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { AccessRefused, AuthenticationRequired } from '../http/refusal.js';
import type { HttpRequest } from '../http/request-facts.js';
import { decide, type Refusal } from './access.js';
import { Authenticator, rememberPrincipal, type Principal } from './principal.js';
import { SecurityRules } from './security-rules.js';

/**
 * The one global guard: it authenticates and decides, so that no order of imports can turn 403 into 401. Export of
 * the package so that a test can override it. Any exception in the decision is a refusal.
 */
@Injectable()
export class SecurityRulesGuard implements CanActivate {
  private readonly logger = new Logger('SecurityRulesGuard');

  constructor(
    private readonly rules: SecurityRules,
    private readonly authenticator: Authenticator,
    private readonly host: HttpAdapterHost,
  ) {}

  /** @throws 401 `{error: "Authentication required"}` with `WWW-Authenticate`, or 403 `{error: "<Role> access required"}` */
  canActivate(context: ExecutionContext): boolean {
    // URL rules say nothing of sockets, messages and GraphQL resolvers: those need a guard of their own.
    if (context.getType() !== 'http') return false;
    const request = context.switchToHttp().getRequest<HttpRequest>();
    const authentication = this.authenticationOf(request);
    const refusal = this.refusalOf(request, () => authentication().principal);
    if (refusal === undefined) return true;
    if (refusal.reason === 'forbidden') throw new AccessRefused(refusal.role);
    const required = new AuthenticationRequired(authentication().bearerWasSent);
    // Set here too: on the application's own routes its own filters write the answer.
    this.host.httpAdapter.setHeader(context.switchToHttp().getResponse(), 'WWW-Authenticate', required.challenge);
    throw required;
  }

  /** Read at most once for a request, and only when the decision or the handler asks. */
  private authenticationOf(request: HttpRequest): () => ReturnType<Authenticator['authenticate']> {
    let read: ReturnType<Authenticator['authenticate']> | undefined;
    const authentication = (): ReturnType<Authenticator['authenticate']> =>
      (read ??= this.authenticator.authenticate(request));
    rememberPrincipal(request, () => authentication().principal);
    return authentication;
  }

  private refusalOf(request: HttpRequest, principal: () => Principal | undefined): Refusal | undefined {
    try {
      const access = this.rules.accessOf(request);
      return access.kind === 'public' ? undefined : decide(access, principal()?.roles);
    } catch (error) {
      this.logger.error(
        'The security decision failed; the request is refused.',
        error instanceof Error ? error.stack : undefined,
      );
      return { reason: 'forbidden' };
    }
  }
}
