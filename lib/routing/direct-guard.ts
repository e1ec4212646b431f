import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { HttpRequest } from '../http/request-facts.js';

/** A guard that looks at the request and at nothing else that Nest knows: it can be asked without Nest's context. */
export abstract class DirectGuard implements CanActivate {
  /** What it says where there is no request of HTTP. */
  protected abstract readonly elsewhere: boolean;

  /** @param handler the controller's method */
  abstract admits(request: HttpRequest, response: unknown, handler: object): boolean | Promise<boolean>;

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (context.getType() !== 'http') return this.elsewhere;
    const http = context.switchToHttp();
    return this.admits(http.getRequest<HttpRequest>(), http.getResponse(), context.getHandler());
  }
}

/** Whether nobody has put something else in its place, a test's spy for example. */
export const isDirect = (guard: CanActivate): guard is DirectGuard =>
  guard instanceof DirectGuard && guard.canActivate === DirectGuard.prototype.canActivate;
