import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { pathOf, templateOf, type HeaderWriter, type HttpRequest } from '../http/request-facts.js';
import { controllerMethodOf } from '../routes/controller-methods.js';
import { AccessDecision } from './access-decision.js';
import { AccessRules } from './access-rules.js';
import { DENIED, type Access } from './access.js';
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
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const isHttp = context.getType() === 'http';
    const request = requestOf(context) ?? { method: 'GET', headers: {} };
    const read = !isHttp && opensConnection(context, request) ? authenticate : authenticationOf;
    const authentication = read(this.authenticator, request);
    const access = this.decision.accessBy(() => this.accessTo(context, request));
    return access.kind === 'public' || this.admit(context, this.decision.refusalOf(request, authentication, access));
  }

  private accessTo(context: ExecutionContext, request: HttpRequest): Access {
    const { compiled } = this.rules;
    const handler = context.getHandler();
    // Tracing libraries may wrap a handler, with its metadata, when Nest creates the route.
    const target = { controller: context.getClass(), method: controllerMethodOf(handler) ?? handler };
    if (context.getType() !== 'http') return compiled?.ofHandler(target) ?? DENIED;
    const { method, params = {} } = request;
    return compiled?.ofRoute(templateOf(request), method, { path: pathOf(request), params }, target) ?? DENIED;
  }

  private async admit(context: ExecutionContext, refusal: ReturnType<AccessDecision['refusalOf']>): Promise<boolean> {
    const refused = await refusal;
    if (!refused) return true;
    if (context.getType() !== 'http') throw await refusalIn(context, refused.exception);
    // Set here, because the application's own filters write the response on its own routes.
    const response = context.switchToHttp().getResponse<HeaderWriter>();
    for (const [name, value] of Object.entries(refused.headers)) response.header(name, value);
    throw refused.exception;
  }
}
