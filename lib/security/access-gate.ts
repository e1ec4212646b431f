import { HttpException, Injectable, Logger } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { AccessRefused, AuthenticationRequired } from '../http/refusal.js';
import type { HttpRequest } from '../http/request-facts.js';
import { RouteTable } from '../routing/route-table.js';
import { decide, DENIED, type Access, type Refusal } from './access.js';
import { askPolicies } from './policy.js';
import { Authenticator, rememberPrincipal } from './principal.js';
import { decidingRule, describeRule } from './rules.js';
import { SecurityRules } from './security-rules.js';

/**
 * Authenticates and decides, for the guard before Nest's handlers, and by itself before those that main.ts adds to the
 * adapter (Swagger's pages among them), which no guard sees. Any exception in the decision is a refusal.
 */
@Injectable()
export class AccessGate {
  private readonly logger = new Logger('SecurityRules');

  constructor(
    private readonly rules: SecurityRules,
    private readonly authenticator: Authenticator,
    private readonly host: HttpAdapterHost,
  ) {
    RouteTable.watch(host, (table) => {
      table.outsideGate = (request, response, enter) => this.admitOutside(request, response, enter);
    });
  }

  /** @throws 401 `{error: "Authentication required"}` with `WWW-Authenticate`, or 403 `{error: "<Role> access required"}` */
  admit(
    request: HttpRequest,
    response: unknown,
    accessOf = (): Access => this.rules.accessOf(request),
  ): boolean | Promise<boolean> {
    const authentication = this.authenticationOf(request);
    const answer = (refusal: Refusal | undefined, access = DENIED): boolean => {
      if (refusal) this.refuse(refusal, access, response, this.safely(() => authentication().bearerWasSent) ?? false);
      return true;
    };
    const decided = this.safely(() => {
      const access = accessOf();
      const principal = access.kind === 'public' ? undefined : authentication().principal;
      const refusal = decide(access, principal && this.rules.roles.expand(principal.roles));
      // Asked last, and only where the roles do: a policy may look something up.
      const asks = principal !== undefined && !refusal && access.requirements.some((each) => 'policy' in each);
      return { access, refusal, policies: asks ? askPolicies(access.requirements, principal, request) : undefined };
    });
    if (!decided) return answer({ reason: 'forbidden' });
    const { access, refusal, policies } = decided;
    return policies ? policies.then((refused) => answer(refused, access)) : answer(refusal, access);
  }

  /** No filter runs there either: a refusal is answered here. */
  private async admitOutside(request: HttpRequest, response: unknown, enter: () => unknown): Promise<unknown> {
    try {
      await this.admit(request, response, () => this.rules.accessOfOutside(request));
    } catch (refusal) {
      if (!(refusal instanceof HttpException)) throw refusal;
      return this.host.httpAdapter.reply(response, refusal.getResponse(), refusal.getStatus()) as unknown;
    }
    return enter();
  }

  private refuse(refusal: Refusal, access: Access, response: unknown, bearerWasSent: boolean): never {
    const { httpAdapter } = this.host;
    if (this.rules.explainsRefusals) {
      const rule = decidingRule(access, refusal);
      httpAdapter.setHeader(response, 'X-Access-Rule', rule ? encodeURI(describeRule(rule)) : 'default');
    }
    if (refusal.reason === 'forbidden') throw new AccessRefused(refusal.missing);
    const required = new AuthenticationRequired(bearerWasSent);
    // Set here too: on the application's own routes its own filters write the answer.
    httpAdapter.setHeader(response, 'WWW-Authenticate', required.challenge);
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

  /** An exception in the decision is written to the log, and lets nobody in. */
  private safely<T>(step: () => T): T | undefined {
    try {
      return step();
    } catch (error) {
      this.logger.error(
        'The security decision failed; the request is refused.',
        error instanceof Error ? error.stack : undefined,
      );
      return undefined;
    }
  }
}
