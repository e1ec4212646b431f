/** The application of the CORS suites: a generated resource, login, and controllers of its own, some in a CORS group. */
import {
  All,
  Body,
  type CallHandler,
  type CanActivate,
  Controller,
  Delete,
  type ExecutionContext,
  Get,
  Head,
  Header,
  HttpCode,
  Injectable,
  type MiddlewareConsumer,
  Module,
  type ModuleMetadata,
  type NestInterceptor,
  type NestModule,
  NotFoundException,
  Options,
  Patch,
  Post,
  Put,
  type Type,
} from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, AuthUser, CrudController, CrudModule, SecurityConfig } from 'declarest';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { Answer } from '../harness/client.js';
import { createDatabase } from '../harness/databases.js';
import { type Platform, type RunningApp, startApp, type StartOptions } from '../harness/platforms.js';
import { TEST_SECRET } from '../harness/tokens.js';

@Entity()
class GadgetUser extends AuthUser {}

@Entity()
export class Gadget {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20, unique: true })
  name!: string;
}

@Entity()
export class Gizmo {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  name!: string;
}

/** What the application did beside answering, in order: `guard`, `interceptor`, `handler <name>`. */
export type Trace = string[];

let trace: Trace = [];

@Injectable()
class TracingGuard implements CanActivate {
  canActivate(): boolean {
    trace.push('guard');
    return true;
  }
}

@Injectable()
class TracingInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler) {
    trace.push('interceptor', `handler ${context.getHandler().name}`);
    return next.handle();
  }
}

/** One route of every kind; nothing here knows of CORS. */
@Controller('api/own')
export class OwnController {
  @Get('read')
  @Header('Vary', 'Accept-Language')
  read() {
    return { own: true };
  }

  @Head('head')
  @HttpCode(204)
  headOnly() {}

  @Post('post')
  post(@Body() body: unknown) {
    return { got: body ?? null };
  }

  @Put('put')
  put() {
    return { own: true };
  }

  @Patch('patch')
  patch() {
    return { own: true };
  }

  @Delete('delete')
  remove() {
    return { own: true };
  }

  @All('all')
  any() {
    return { own: true };
  }

  @Options('options')
  options() {
    return { own: true };
  }

  @Get('missing')
  missing() {
    throw new NotFoundException('no such thing');
  }

  @Get('broken')
  broken() {
    throw new Error('the inside');
  }

  @Get('for-admins')
  forAdmins() {
    return { own: true };
  }
}

/** Stands in no group. */
@Controller('api/outside')
export class OutsideController {
  @Get()
  read() {
    return { outside: true };
  }

  @Options('options')
  options() {
    return { outside: true };
  }
}

export class GadgetsController extends CrudController({
  entity: Gadget,
  endpoint: '/api/gadgets',
  enablePagination: true,
  enableSearch: true,
  enableExists: true,
  searchableFields: ['name'],
}) {}

/** A generated operation that fails for a reason of the inside. */
export class GizmosController extends CrudController({
  entity: Gizmo,
  endpoint: '/api/gizmos',
  enablePagination: true,
}) {
  @Get(':id')
  override findById(): never {
    throw new Error('the inside: /var/lib/shop.db');
  }
}

@Injectable()
class GadgetSecurity extends SecurityConfig {
  configure(): void {
    this.publicEndpoints('/**');
    this.requireAuth('PUT /api/gadgets/*', 'PATCH /api/own/**');
    this.requireRole('ADMIN', 'DELETE /api/gadgets/*', '/api/own/for-admins');
  }
}

export interface GadgetParts {
  /** What the root module does in `configure(consumer)`. */
  bind: (consumer: MiddlewareConsumer) => void;
  /** `false` leaves AuthModule and the rules out. */
  auth?: boolean;
  imports?: NonNullable<ModuleMetadata['imports']>;
  controllers?: Type[];
}

export interface GadgetApp extends RunningApp {
  /** Empties itself when asked. */
  takeTrace: () => Trace;
}

/** Boots it; guard, interceptor and handlers leave a trace. */
export async function startGadgets(
  platform: Platform,
  parts: GadgetParts,
  options: StartOptions = {},
): Promise<GadgetApp> {
  const database = await createDatabase();
  const running = await startApp(platform, gadgetModule(parts, database.options), {
    ...options,
    onClose: () => database.drop(),
  });
  trace = [];
  return { ...running, takeTrace: () => trace.splice(0) };
}

export function gadgetModule(parts: GadgetParts, database: Parameters<typeof TypeOrmModule.forRoot>[0]): Type {
  const { bind, auth = true, imports = [], controllers = [] } = parts;
  @Module({
    imports: [
      TypeOrmModule.forRoot(database),
      ...(auth ? [AuthModule.forRoot({ userClass: GadgetUser, jwtSecret: TEST_SECRET, bcryptRounds: 4 })] : []),
      CrudModule.forFeature(GadgetsController, GizmosController),
      ...imports,
    ],
    controllers: [OwnController, OutsideController, ...controllers],
    providers: [
      ...(auth ? [GadgetSecurity] : []),
      { provide: APP_GUARD, useClass: TracingGuard },
      { provide: APP_INTERCEPTOR, useClass: TracingInterceptor },
    ],
  })
  class GadgetModule implements NestModule {
    configure(consumer: MiddlewareConsumer): void {
      bind(consumer);
    }
  }
  return GadgetModule;
}

/** Every CORS header of an answer, by lower-case name. */
export function corsHeadersOf({ headers }: Pick<Answer, 'headers'>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-control-')));
}

/** All the headers the contract names, exactly. */
export function allCorsHeaders(origin: string): Record<string, string> {
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-methods': 'GET, POST, PUT, DELETE, OPTIONS, PATCH',
    'access-control-allow-headers':
      'Content-Type, Authorization, X-Requested-With, If-Match, If-None-Match, Idempotency-Key',
    'access-control-max-age': '600',
    'access-control-expose-headers': expect.stringContaining('Location') as string,
  };
}

export const ORIGIN = 'https://shop.example';

/** What a browser sends ahead of a request that needs permission. */
export const preflight = (method = 'PUT', origin = ORIGIN): Record<string, string> => ({
  origin,
  'access-control-request-method': method,
  'access-control-request-headers': 'authorization,content-type',
});
