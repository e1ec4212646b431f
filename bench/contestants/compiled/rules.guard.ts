import {
  type CanActivate,
  type ExecutionContext,
  ForbiddenException,
  Injectable,
  UnauthorizedException,
} from '@nestjs/common';
import { rules } from '../rules.js';
import { type Claims, verifiedClaims } from './token.js';

interface Request {
  readonly url: string;
  readonly headers: { readonly authorization?: string };
  user?: Claims | undefined;
}

/** The role of each rule by the path below which it applies: one look-up for each level of a request's path. */
const requiredRoles = new Map(rules.map(({ pattern, role }) => [pattern.replace('/**', ''), role]));

@Injectable()
export class RulesGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    const { url, headers } = request;
    const query = url.indexOf('?');
    const path = query === -1 ? url : url.slice(0, query);
    for (let end = path.indexOf('/', 1); end !== path.length;) {
      end = path.indexOf('/', end + 1);
      if (end === -1) end = path.length;
      const level = path.slice(0, end);
      if (requiredRoles.has(level)) this.authorize(request, headers.authorization, requiredRoles.get(level));
    }
    return true;
  }

  private authorize(request: Request, authorization: string | undefined, role: string | undefined): void {
    request.user ??= verifiedClaims(authorization);
    if (!request.user) throw new UnauthorizedException({ error: 'Authentication required' });
    if (role && !request.user.roles.includes(role)) throw new ForbiddenException({ error: 'Admin access required' });
  }
}
