import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { pathOf, templateOf, type HeaderWriter, type HttpRequest } from '../http/request-facts.js';
import { controllerMethodOf, type ControllerMethod } from '../routes/controller-methods.js';
import { AccessDecision } from './access-decision.js';
import { AccessRules } from './access-rules.js';
import { DENIED } from './access.js';
import { opensConnection, refusalIn, requestOf } from './other-contexts.js';
import { authenticate, authenticationOf, Authenticator } from './principal.js';

/**
 * The global guard: it applies the rules of every `SecurityConfig`. It is exported so that a test can override it.
 *
 * @example
 * ```ts
 * Test.createTestingModule({ imports: [AppModule] })
 *   .overrideProvider(SecurityRulesGuard)
 *   .useValue({ canActivate: () => true });
 * ```
 */
@Injectable()
export class SecurityRulesGuard implements CanActivate {
  constructor(
    private readonly rules: AccessRules,
    private readonly decision: AccessDecision,
    private readonly authenticator: Authenticator,
  ) {}

  /** @throws AuthenticationRequired (401) with `WWW-Authenticate`, AccessRefused (403) */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const handler = context.getHandler();
    // Tracing libraries may wrap a handler, with its metadata, when Nest creates the route.
    const target = { controller: context.getClass(), method: controllerMethodOf(handler) ?? handler };
    if (context.getType() !== 'http') return this.admitToHandler(context, target);
    const http = context.switchToHttp();
    const request = http.getRequest<HttpRequest>();
    const authentication = authenticationOf(this.authenticator, request);
    const refused = await this.decision.refusalOf(request, authentication, () => {
      const { method, params = {} } = request;
      const path = { path: pathOf(request), params };
      return this.rules.compiled?.ofRoute(templateOf(request), method, path, target) ?? DENIED;
    });
    if (!refused) return true;
    // Set here, because the application's own filters write the response on its own routes.
    for (const [name, value] of Object.entries(refused.headers)) http.getResponse<HeaderWriter>().header(name, value);
    throw refused.exception;
  }

  /** For a handler of a gateway, a resolver or a microservice. */
  private async admitToHandler(context: ExecutionContext, target: ControllerMethod): Promise<boolean> {
    const request = requestOf(context) ?? { method: 'GET', headers: {} };
    const read = opensConnection(context, request) ? authenticate : authenticationOf;
    const refused = await this.decision.refusalOf(
      request,
      read(this.authenticator, request),
      () => this.rules.compiled?.ofHandler(target) ?? DENIED,
    );
    if (refused) throw await refusalIn(context, refused.exception);
    return true;
  }
}
