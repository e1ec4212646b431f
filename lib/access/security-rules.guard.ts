import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { pathOf, templateOf, type HeaderWriter, type HttpRequest } from '../http/request-facts.js';
import { controllerMethodOf } from '../routes/controller-methods.js';
import { AccessDecision, type Refused } from './access-decision.js';
import { DENIED, type Access } from './access.js';
import type { CompiledAccess } from './compiled-access.js';
import { opensConnection, refusalIn, requestOf } from './other-contexts.js';

/**
 * The global guard: it applies the rules of every `SecurityConfig`. It is exported so that a test can override it.
 *
 * @example
 * Test.createTestingModule({ imports: [AppModule] })
 *   .overrideProvider(SecurityRulesGuard)
 *   .useValue({ canActivate: () => true });
 */
@Injectable()
export class SecurityRulesGuard implements CanActivate {
  constructor(private readonly decision: AccessDecision) {}

  /** @throws AuthenticationRequired (401) with `WWW-Authenticate`, AccessRefused (403) */
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (context.getType() !== 'http') return this.decideOnHandler(context);
    const request = context.switchToHttp().getRequest<HttpRequest>();
    const access = this.decision.accessTo(ofRoute, request, context) ?? DENIED;
    if (access.kind === 'public') return true;
    const refused = this.decision.refusalOf(request, access);
    return refused instanceof Promise ? refused.then((late) => allow(context, late)) : allow(context, refused);
  }

  /** For a WebSocket, GraphQL or microservice handler. */
  private async decideOnHandler(context: ExecutionContext): Promise<boolean> {
    const request = requestOf(context) ?? { method: 'GET', headers: {} };
    if (opensConnection(context, request)) this.decision.identify(request);
    const access = this.decision.accessTo(ofHandler, request, context) ?? DENIED;
    const refused = await this.decision.refusalOf(request, access);
    if (refused) throw await refusalIn(context, refused.exception);
    return true;
  }
}

function ofRoute(compiled: CompiledAccess, request: HttpRequest, context: ExecutionContext): Access {
  const concrete = { path: pathOf(request), params: request.params ?? {} };
  return compiled.ofRoute(templateOf(request), request.method, concrete, context);
}

function ofHandler(compiled: CompiledAccess, _request: HttpRequest, context: ExecutionContext): Access {
  const handler = context.getHandler();
  return compiled.ofHandler({ controller: context.getClass(), method: controllerMethodOf(handler) ?? handler });
}

/** The headers are set here, because the application's own filters write the response on its own routes. */
function allow(context: ExecutionContext, refused: Refused | undefined): boolean {
  if (!refused) return true;
  const response = context.switchToHttp().getResponse<HeaderWriter>();
  for (const [name, value] of Object.entries(refused.headers)) response.header(name, value);
  throw refused.exception;
}
