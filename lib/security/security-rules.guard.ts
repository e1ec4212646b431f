import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { HttpRequest } from '../http/request-facts.js';
import { AccessGate } from './access-gate.js';

/**
 * The one global guard: it authenticates and decides, so that no order of imports can turn 403 into 401. Export of
 * the package so that a test can override it.
 */
@Injectable()
export class SecurityRulesGuard implements CanActivate {
  constructor(private readonly gate: AccessGate) {}

  /** @throws 401 `{error: "Authentication required"}` with `WWW-Authenticate`, or 403 `{error: "<Role> access required"}` */
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    // URL rules say nothing of sockets, messages and GraphQL resolvers: those need a guard of their own.
    if (context.getType() !== 'http') return false;
    const http = context.switchToHttp();
    return this.gate.admit(http.getRequest<HttpRequest>(), http.getResponse(), context.getHandler());
  }
}
