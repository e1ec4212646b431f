/** Ordinary packages and extension points of Nest around a generated controller and its twin: one row each. */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type CallHandler,
  type CanActivate,
  ClassSerializerInterceptor,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  type Provider,
  Scope,
  ValidationPipe,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { ApolloDriver } from '@nestjs/apollo';
import { GraphQLModule, Query, Resolver } from '@nestjs/graphql';
import { AuthGuard, PassportStrategy } from '@nestjs/passport';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import { SentryGlobalFilter, SentryModule } from '@sentry/nestjs/setup';
import { Exclude } from 'class-transformer';
import { IsNotEmpty } from 'class-validator';
import { JwtService } from '@nestjs/jwt';
import { ExtractJwt, Strategy } from 'passport-jwt';
import { type Observable, tap } from 'rxjs';
import { Column, Entity, EventSubscriber, PrimaryGeneratedColumn } from 'typeorm';
import { type Platform, PLATFORMS } from '../harness/platforms.js';
import { Seen, startTwins, type TwinParts, type Twins } from './twins.js';

abstract class Note {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  @IsNotEmpty()
  text!: string;

  @Column({ default: 7 })
  @Exclude({ toPlainOnly: true })
  cost!: number;
}
@Entity()
class GeneratedNote extends Note {}
@Entity()
class HandwrittenNote extends Note {}

let seen: Seen;

@Injectable({ scope: Scope.REQUEST })
class RequestInterceptor implements NestInterceptor {
  private calls = 0;

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { method } = context.switchToHttp().getRequest<{ method: string }>();
    seen.add(`${method} is call ${++this.calls} of this instance`);
    return next.handle().pipe(tap(() => seen.add(`${method} answers`)));
  }
}

const tenant = new AsyncLocalStorage<string>();

/** As interceptors of nestjs-cls and OpenTelemetry. */
@Injectable()
class TenantInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return tenant.run('north', () => next.handle());
  }
}

@EventSubscriber()
class TenantRecorder {
  beforeInsert(): void {
    seen.add(`insert for ${tenant.getStore()}`);
  }
}

/** Runs after passport's guard. */
@Injectable()
class UserRecorder implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { user } = context.switchToHttp().getRequest<{ user?: { sub: string } }>();
    seen.add(`user ${user?.sub}`);
    return true;
  }
}

const SECRET = 'a secret of passport, long enough';
@Injectable()
class JwtStrategy extends PassportStrategy(Strategy) {
  constructor() {
    super({ jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(), secretOrKey: SECRET });
  }

  validate(claims: object): object {
    return claims;
  }
}

@Resolver()
class GreetingResolver {
  @Query(() => String)
  hello(): string {
    return 'hello';
  }
}

const globally = (provide: string, useClass: NonNullable<Extract<Provider, { useClass: unknown }>['useClass']>) => ({
  provide,
  useClass,
});

interface Row {
  name: string;
  parts: () => Partial<TwinParts>;
  /** The headers that the neighbour needs. */
  headers?: () => Record<string, string>;
  /** What is particular to the neighbour, after the common requests. */
  also?: (twins: Twins) => Promise<void>;
}

const ROWS: Row[] = [
  {
    name: 'a global ValidationPipe with whitelist and transform',
    parts: () => ({
      providers: [{ provide: APP_PIPE, useValue: new ValidationPipe({ whitelist: true, transform: true }) }],
    }),
  },
  {
    name: 'ClassSerializerInterceptor',
    parts: () => ({ providers: [globally(APP_INTERCEPTOR, ClassSerializerInterceptor)] }),
    also: async (twins) => {
      const { json } = await twins.both('GET', '/2');
      expect(json.data).toEqual({ id: 2, text: 'four' });
    },
  },
  {
    name: 'a request-scoped interceptor',
    parts: () => ({ providers: [globally(APP_INTERCEPTOR, RequestInterceptor)] }),
    also: async (twins) => {
      seen.take();
      await twins.both('GET', '');
      await twins.both('POST', '', { text: 'five' });
      expect(seen.take()).toEqual([
        'GET is call 1 of this instance',
        'GET answers',
        'POST is call 1 of this instance',
        'POST answers',
      ]);
    },
  },
  {
    name: 'an interceptor with an AsyncLocalStorage',
    parts: () => ({
      providers: [globally(APP_INTERCEPTOR, TenantInterceptor)],
      dataSource: { subscribers: [TenantRecorder] },
    }),
    also: async (twins) => {
      seen.take();
      await twins.both('POST', '', { text: 'five' });
      expect(seen.take()).toEqual(['insert for north']);
    },
  },
  {
    name: '@nestjs/throttler',
    parts: () => ({
      imports: [ThrottlerModule.forRoot([{ ttl: 60_000, limit: 5 }])],
      providers: [globally(APP_GUARD, ThrottlerGuard)],
    }),
    also: async (twins) => {
      const statuses: number[] = [];
      for (let count = 0; count < 5; count++) statuses.push((await twins.both('GET', '')).status);
      expect(statuses).toEqual([200, 200, 200, 200, 429]);
      expect((await twins.both('GET', '/2')).status).toBe(200);
    },
  },
  {
    name: 'a global guard of passport',
    parts: () => ({
      providers: [JwtStrategy, globally(APP_GUARD, AuthGuard('jwt')), globally(APP_GUARD, UserRecorder)],
    }),
    headers: () => ({ authorization: `Bearer ${new JwtService({ secret: SECRET }).sign({ sub: 'ann' })}` }),
    also: async (twins) => {
      expect(new Set(seen.take())).toEqual(new Set(['user ann']));
      expect((await twins.both('GET', '')).status).toBe(401);
      expect(seen.take()).toEqual([]);
    },
  },
  {
    name: '@sentry/nestjs',
    parts: () => ({ imports: [SentryModule.forRoot()], providers: [globally(APP_FILTER, SentryGlobalFilter)] }),
  },
  {
    name: '@nestjs/graphql',
    parts: () => ({
      imports: [GraphQLModule.forRoot({ driver: ApolloDriver, autoSchemaFile: true })],
      providers: [GreetingResolver],
    }),
    also: async (twins) => {
      const { json } = await twins.post('/graphql', { query: '{ hello }' });
      expect(json.data).toEqual({ hello: 'hello' });
    },
  },
];

describe.each(PLATFORMS)('%s', (platform: Platform) => {
  it.each(ROWS)('serves both controllers alike beside $name', async ({ name, parts, headers, also }) => {
    seen = new Seen();
    const twins = await startTwins(platform, {
      twins: [GeneratedNote, HandwrittenNote],
      seen,
      // The hand-written twin hides the column where ClassSerializerInterceptor is there.
      except: name === 'ClassSerializerInterceptor' ? [] : ['cost'],
      ...parts(),
    });
    const options = { headers: headers?.() ?? {} };
    const both = async (method: string, path: string, json?: unknown): Promise<number> =>
      (await twins.both(method, path, json, options)).status;

    expect(await both('POST', '', { text: 'one' })).toBe(201);
    expect(await both('POST', '', { text: 'two' })).toBe(201);
    expect(await both('POST', '', { text: '' })).toBe(400);
    expect(await both('PUT', '/1', { text: 'three' })).toBe(200);
    expect(await both('PATCH', '/2', { text: 'four' })).toBe(200);
    expect(await both('PATCH', '/9', { text: 'nobody' })).toBe(404);
    expect(await both('GET', '')).toBe(200);
    expect(await both('GET', '/1')).toBe(200);
    expect(await both('DELETE', '/1')).toBe(200);
    expect(await both('GET', '/1')).toBe(404);
    await also?.(twins);
    expect((await twins.rows()).length).toBeGreaterThan(0);
    await twins.close();
  });
});
