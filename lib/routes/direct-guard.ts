import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { after, type Answer } from '../http/at-once.js';
import type { Refused } from '../http/refusal.js';
import type { HttpRequest } from '../http/request-facts.js';

/** A guard that looks at the request and at nothing else that Nest knows: it can be asked without Nest's context. */
export abstract class DirectGuard implements CanActivate {
  /** What it says where there is no request of HTTP. */
  protected abstract readonly elsewhere: boolean;

  /**
   * @param handler the controller's method
   * @returns what the request is answered with instead of by its handler; `undefined` where it may go on
   */
  abstract refusal(request: HttpRequest, response: unknown, handler: object): Answer<Refused | undefined>;

  /**
   * Whether code of the application is shown the requests of a route, which expects them to be the platform's.
   *
   * @param _method `GET`, `POST`, …
   */
  shows(_method: string, _template: string): boolean {
    return false;
  }

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (context.getType() !== 'http') return this.elsewhere;
    const http = context.switchToHttp();
    const refusal = this.refusal(http.getRequest<HttpRequest>(), http.getResponse(), context.getHandler());
    return after(refusal, (refused) => {
      if (refused) throw refused.exception();
      return true;
    });
  }
}

/** Whether nobody has put something else in its place, a test's spy for example. */
export const isDirect = (guard: CanActivate): guard is DirectGuard =>
  guard instanceof DirectGuard && guard.canActivate === DirectGuard.prototype.canActivate;
