import {
  type CallHandler,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Inject,
  Injectable,
  type NestInterceptor,
  type PipeTransform,
  Query,
  Req,
  Scope,
  UseGuards,
} from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR, REQUEST } from '@nestjs/core';
import { request } from '../harness/client.js';
import { PLATFORMS } from '../harness/platforms.js';
import { startRuled, TOKENS } from './ruled-app.js';

type WithUser = { user?: unknown };
const PRINCIPAL = { id: 7, email: 'ann@example.com', roles: ['USER'] };

let seen: [where: string, user: unknown][] = [];
const see = (where: string, context: ExecutionContext): true => {
  seen.push([where, context.switchToHttp().getRequest<WithUser>().user]);
  return true;
};

@Injectable()
class EarlyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return see('global guard', context);
  }
}

@Injectable()
class RouteGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return see('guard', context);
  }
}

@Injectable()
class SeeingInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler) {
    see('interceptor', context);
    return next.handle();
  }
}

@Injectable({ scope: Scope.REQUEST })
class SeeingPipe implements PipeTransform {
  constructor(@Inject(REQUEST) private readonly request: WithUser) {}

  transform(value: unknown): unknown {
    seen.push(['pipe', this.request.user]);
    return value;
  }
}

@Controller('me')
@UseGuards(RouteGuard)
class MeController {
  @Get()
  me(@Query(SeeingPipe) _query: unknown, @Req() request: WithUser): object {
    return { user: request.user ?? null };
  }
}

describe.each(PLATFORMS)('request.user on %s', (platform) => {
  it.each([
    ['a token', TOKENS.USER, PRINCIPAL],
    ['no token', undefined, undefined],
    ['an invalid token', 'bad', undefined],
  ])('[1] is the principal in guards, interceptors, pipes and handlers: %s', async (_what, token, user) => {
    seen = [];
    const app = await startRuled(platform, {
      controllers: [MeController],
      rules: ({ publicEndpoints }) => publicEndpoints('/me'),
      // Its guard is registered, and runs, before the guard of AuthModule.
      providers: [
        { provide: APP_GUARD, useClass: EarlyGuard },
        { provide: APP_INTERCEPTOR, useClass: SeeingInterceptor },
      ],
    });
    const answer = await request(app.url, 'GET', '/me', token === undefined ? {} : { token });
    const expected = user && { ...user, id: expect.anything(), email: expect.any(String) };
    expect(seen.map(([where]) => where)).toEqual(['global guard', 'guard', 'interceptor', 'pipe']);
    for (const [where, found] of seen) expect([where, found]).toEqual([where, expected]);
    expect(answer.json).toEqual({ user: expected ?? null });
    await app.close();
  });
});
