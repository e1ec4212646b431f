import type { EventEmitter } from 'node:events';
import { All, Controller, ForbiddenException, Get, Inject, Req, Res, UnauthorizedException } from '@nestjs/common';
import { type Type, UseFilters, VERSION_NEUTRAL } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ApiExcludeController } from '@nestjs/swagger';
import { type HttpRequest, type Principal, Public } from 'declarest';
import { send } from './application-request.js';
import { CallLimit } from './call-limit.js';
import { McpExceptionFilter } from './mcp-exception.filter.js';
import { handlerFor, type McpCaller } from './mcp-server.js';
import { McpTools } from './mcp-tools.js';
import type { ResolvedOptions } from './options.js';
import { isForAudience, metadataOf } from './protected-resource.js';

/** What requests of Express and of Fastify have. */
interface McpRequest extends HttpRequest {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  readonly ip?: string;
  readonly protocol: string;
  readonly user?: Principal;
}

type HttpResponse = EventEmitter | { readonly raw: EventEmitter };

/** Request headers that a tool call passes on. The body, the connection and conditions are those of the call itself. */
const PASSED_ON = ['authorization', 'host', 'user-agent', 'accept-language', 'traceparent', 'tracestate'];

/** There are no batches since the revision 2025-06-18: their answers are as large as their sender likes. */
const ONE_MESSAGE = {
  jsonrpc: '2.0',
  error: { code: -32_600, message: 'Invalid Request: send one message in each request' },
  id: null,
};

/** A controller for the path of the endpoint, and for its metadata. */
export function mcpController(options: ResolvedOptions): Type {
  @ApiExcludeController()
  @Controller({ version: VERSION_NEUTRAL })
  @UseFilters(McpExceptionFilter)
  class McpController {
    private readonly limit = new CallLimit(options.maxCallsPerMinute);

    constructor(
      @Inject(McpTools) private readonly tools: McpTools,
      @Inject(HttpAdapterHost) private readonly host: HttpAdapterHost,
    ) {}

    /** The access rules of the application decide on the route, as on all others. */
    @All(options.path)
    async handle(@Req() request: McpRequest, @Res() response: HttpResponse): Promise<void> {
      const { httpAdapter } = this.host;
      httpAdapter.setHeader(response, 'Cache-Control', 'no-store');
      const { origin, authorization } = request.headers;
      if (origin !== undefined && !options.allowedOrigins.has(origin))
        throw new ForbiddenException({ error: 'Origin not allowed' });
      const isValid = request.user !== undefined && isForAudience(authorization, options.audience);
      // A public route ignores an invalid token, but this client must get a new one.
      if (authorization !== undefined && !isValid)
        throw new UnauthorizedException({ error: 'Authentication required' });
      if (Array.isArray(request.body)) return httpAdapter.reply(response, ONE_MESSAGE, 400);
      const answer = await handlerFor(this.tools.service, this.callerOf(request)).fetch(
        new Request(options.url, {
          // Every method but POST has the same answer, and a `Request` cannot have the method TRACE.
          method: request.method === 'POST' ? 'POST' : 'GET',
          headers: Object.entries(request.headers).filter(
            (each): each is [string, string] => typeof each[1] === 'string',
          ),
          signal: closedSignal(response),
        }),
        { parsedBody: request.body },
      );
      for (const [name, value] of answer.headers) httpAdapter.setHeader(response, name, value);
      httpAdapter.reply(response, await answer.text(), answer.status);
    }

    @Public()
    @Get(options.metadataPath)
    metadata(@Res() response: HttpResponse): void {
      this.host.httpAdapter.reply(response, metadataOf(options, this.tools.service.info.name), 200);
    }

    private callerOf(request: McpRequest): McpCaller {
      const { headers, ip, protocol, user } = request;
      const own = Object.entries(headers).filter(([name]) => PASSED_ON.includes(name));
      // As a reverse proxy does: an application that trusts it sees the address of the client.
      const forwarded = { ...(ip !== undefined && { 'x-forwarded-for': ip }), 'x-forwarded-proto': protocol };
      const passed = { ...Object.fromEntries(own), ...forwarded } as Record<string, string>;
      const server = this.host.httpAdapter.getHttpServer();
      const { internalUrl, maxResponseBytes } = options;
      return {
        principal: user,
        describe: () => this.tools.describeFor(request),
        countCall: () => this.limit.take(user ? `user ${user.id}` : `address ${ip}`),
        send: (call, signal) =>
          send(server, { ...call, headers: { ...passed, ...call.headers } }, signal, {
            internalUrl,
            maxResponseBytes,
          }),
      };
    }
  }
  return McpController;
}

/** Ends the calls of a client that has gone. */
function closedSignal(response: HttpResponse): AbortSignal {
  const controller = new AbortController();
  ('raw' in response ? response.raw : response).on('close', () => controller.abort());
  return controller.signal;
}
