import { Injectable } from '@nestjs/common';
import type { Answer } from '../http/at-once.js';
import type { Refused } from '../http/refusal.js';
import type { HttpRequest } from '../http/request-facts.js';
import { DirectGuard } from '../routes/direct-guard.js';
import { AccessGate } from './access-gate.js';

/**
 * The one global guard: it authenticates and decides, so that no order of imports can turn 403 into 401. Export of
 * the package so that a test can override it.
 */
@Injectable()
export class SecurityRulesGuard extends DirectGuard {
  /** URL rules say nothing of sockets, messages and GraphQL resolvers: those need a guard of their own. */
  protected readonly elsewhere = false;

  constructor(private readonly gate: AccessGate) {
    super();
  }

  /** 401 `{error: "Authentication required"}` with `WWW-Authenticate`, or 403 `{error: "<Role> access required"}`. */
  refusal(request: HttpRequest, response: unknown, handler: object): Answer<Refused | undefined> {
    return this.gate.refusal(request, response, handler);
  }

  /** To a policy. */
  override shows(method: string, template: string): boolean {
    return this.gate.asksPoliciesAt(method, template);
  }
}
