/** The guard of Nest's documentation (Security, Authentication), with a list of rules. */
import {
  type CanActivate,
  type ExecutionContext,
  ForbiddenException,
  Injectable,
  UnauthorizedException,
} from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import { regexRules } from '../rules.js';

interface Token {
  sub: string;
  email: string;
  roles: string[];
}

interface Request {
  readonly url: string;
  readonly headers: { readonly authorization?: string };
  user?: Token;
}

@Injectable()
export class AuthGuard implements CanActivate {
  constructor(private readonly jwtService: JwtService) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const token = this.extractTokenFromHeader(request);
    if (!token) throw new UnauthorizedException({ error: 'Authentication required' });
    try {
      request.user = await this.jwtService.verifyAsync<Token>(token);
    } catch {
      throw new UnauthorizedException({ error: 'Authentication required' });
    }
    const path = request.url.split('?', 1)[0] ?? '';
    const rule = regexRules.find((each) => each.path.test(path));
    if (rule?.role && !request.user.roles.includes(rule.role))
      throw new ForbiddenException({ error: 'Admin access required' });
    return true;
  }

  private extractTokenFromHeader(request: Request): string | undefined {
    const [type, token] = request.headers.authorization?.split(' ') ?? [];
    return type === 'Bearer' ? token : undefined;
  }
}
