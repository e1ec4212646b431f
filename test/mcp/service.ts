/** A service with tools: generated resources with every option, access rules, and a controller of its own. */
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import {
  Body,
  type CallHandler,
  Controller,
  type ExecutionContext,
  ForbiddenException,
  Get,
  Header,
  Headers,
  Injectable,
  type NestInterceptor,
  Param,
  ParseIntPipe,
  Post,
  Query,
  Req,
  Sse,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiOperation } from '@nestjs/swagger';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { CurrentUser, type Principal, SecurityConfig } from 'declarest';
import { McpModule, type McpOptions } from 'declarest-mcp';
import { addAccess } from 'declarest/openapi';
import type { TestUser } from 'declarest/testing';
import { map, NEVER, type Observable } from 'rxjs';
import { authModule } from '../access/ruled-app.js';
import { type CrudParts, type CrudService, startCrud } from '../crud/service.js';
import type { Platform } from '../harness/platforms.js';
import { authorizationOf } from '../harness/tokens.js';
import { documentOf } from '../openapi/described.js';
import { ENTITIES, Item, Label, Maker, resources } from '../openapi/shop-service.js';

@Injectable()
class Marked implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((value: object) => ({ ...value, marked: true })));
  }
}

const closed = {
  canActivate: () => {
    throw new ForbiddenException('The desk is closed');
  },
};

/** Tells when the operation `slow` begins, and when its client has gone. */
export const slow = new EventEmitter();

@Controller('/desk')
class DeskController {
  @Get('seen/:number')
  @ApiOperation({ operationId: 'seen', description: 'What a handler sees.' })
  @UseInterceptors(Marked)
  seen(
    @Param('number', ParseIntPipe) number: number,
    @Headers() headers: Record<string, string>,
    @CurrentUser() user?: Principal,
  ) {
    return { number, user, headers };
  }

  @Get('closed')
  @ApiOperation({ operationId: 'closed' })
  @UseGuards(closed)
  closed(): void {}

  @Get('broken')
  @ApiOperation({ operationId: 'broken' })
  broken(): never {
    throw new Error('SELECT secret FROM desk');
  }

  @Get('policy')
  @ApiOperation({ operationId: 'policy' })
  policy() {
    return { allowed: true };
  }

  @Get('large')
  @ApiOperation({ operationId: 'large' })
  large(@Query('size', ParseIntPipe) size: number) {
    return 'x'.repeat(size);
  }

  @Get('image')
  @ApiOperation({ operationId: 'image' })
  @Header('Content-Type', 'image/png')
  image(): string {
    return 'png';
  }

  @Sse('events')
  @ApiOperation({ operationId: 'events' })
  events(): Observable<never> {
    return NEVER;
  }

  @Get('slow')
  @ApiOperation({ operationId: 'slow' })
  slow(@Req() request: { readonly socket: Socket }): Promise<never> {
    slow.emit('begun');
    request.socket.once('close', () => slow.emit('closed'));
    return new Promise(() => undefined);
  }

  @Post('image')
  @ApiOperation({ operationId: 'upload' })
  @ApiConsumes('multipart/form-data')
  @ApiBody({ schema: { type: 'object' } })
  upload(): void {}

  @Post('echo')
  @ApiOperation({ operationId: 'echo' })
  @ApiBody({ schema: { type: 'object' }, required: false })
  echo(@Body() body: unknown) {
    return { body };
  }
}

@Injectable()
class Rules extends SecurityConfig {
  configure(): void {
    this.publicEndpoints(
      'GET /items/**',
      'GET /labels/**',
      'GET /makers/**',
      'GET /desk/**',
      'POST /desk/echo',
      '/mcp',
    );
    this.requireRole('EDITOR', 'POST /items', 'PUT,PATCH /items/*', '/items/batch');
    this.requireRole('ADMIN', 'DELETE /items/*', '/admin/**');
    this.requirePolicy('ann only', ({ email }) => email === 'ann@example.com', 'GET /desk/policy');
    this.denyAll('POST /labels');
  }
}

export const MCP_URL = 'https://shop.example/mcp';
export const EDITOR = { sub: 1, roles: ['EDITOR'] };
export const ADMIN = { sub: 2, roles: ['ADMIN', 'EDITOR'] };
export const USER = { sub: 3, roles: ['USER'] };
export interface McpService extends CrudService {
  readonly connect: (caller?: TestUser, mode?: 'legacy' | { pin: string }) => Promise<Client>;
}

interface Parts extends Partial<McpOptions> {
  readonly auth?: Parameters<typeof authModule>[0];
  readonly configure?: CrudParts['configure'];
  readonly providers?: CrudParts['providers'];
  readonly controllers?: CrudParts['controllers'];
  readonly isSetUp?: boolean;
}

export const MAKERS = ['0b6f1a52-6a0e-4f0e-9a55-0f6d1c9b7e21', '0b6f1a52-6a0e-4f0e-9a55-0f6d1c9b7e22'];

export async function startMcp(platform: Platform, parts: Parts = {}): Promise<McpService> {
  const { auth, configure, providers = [Rules], controllers = [], isSetUp = true, ...options } = parts;
  const service = await startCrud(platform, {
    entities: ENTITIES,
    resources,
    controllers: [DeskController, ...controllers],
    providers,
    imports: [
      authModule({ roleHierarchy: { CHIEF: ['EDITOR'] }, ...auth }),
      McpModule.forRoot({ url: MCP_URL, include: ['exports'], maxCallsPerMinute: 1_000_000, ...options }),
    ],
    isDescribed: false,
    configure: async (app) => {
      await configure?.(app);
      if (isSetUp) McpModule.setup(app, () => addAccess(documentOf(app), app));
    },
  });
  const { dataSource } = service;
  await dataSource.getRepository(Maker).insert(MAKERS.map((id, index) => ({ id, name: `maker ${index}` })));
  await dataSource.getRepository(Label).insert([{ text: 'a' }, { text: 'b' }]);
  for (const title of ['one', 'two', 'three', 'four'])
    await dataSource.getRepository(Item).save({ title, price: 1.5, maker: { id: MAKERS[0]! }, labels: [{ id: 1 }] });
  const clients: Client[] = [];
  return {
    ...service,
    async connect(caller, mode = { pin: '2026-07-28' }) {
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
      const headers = caller ? authorizationOf(caller) : {};
      await client.connect(
        new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), { requestInit: { headers } }),
      );
      clients.push(client);
      return client;
    },
    close: async () => {
      await Promise.all(clients.map((client) => client.close()));
      await service.close();
    },
  };
}
