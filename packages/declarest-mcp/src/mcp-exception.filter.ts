import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Inject } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { MCP_OPTIONS, type ResolvedOptions } from './options.js';
import { challengeOf } from './protected-resource.js';

interface HttpRequest {
  readonly headers: Readonly<Record<string, string | undefined>>;
}

const PARSE_ERROR = -32_700;
const UNREADABLE = [400, 413, 415];

/** Adds to 401 where clients learn to log in, and answers bodies that cannot be read as JSON-RPC 2.0 §5.1 says. */
@Catch(HttpException)
export class McpExceptionFilter implements ExceptionFilter<HttpException> {
  constructor(
    @Inject(MCP_OPTIONS) private readonly options: ResolvedOptions,
    @Inject(HttpAdapterHost) private readonly host: HttpAdapterHost,
  ) {}

  catch(exception: HttpException, host: ArgumentsHost): void {
    const { httpAdapter } = this.host;
    const status = exception.getStatus();
    const request = host.switchToHttp().getRequest<HttpRequest>();
    const response = host.switchToHttp().getResponse<object>();
    if (status === 401) {
      const challenge = challengeOf(this.options, request.headers['authorization'] !== undefined);
      httpAdapter.setHeader(response, 'WWW-Authenticate', challenge);
    }
    const error = { code: PARSE_ERROR, message: exception.message };
    const body = UNREADABLE.includes(status) ? { jsonrpc: '2.0', error, id: null } : exception.getResponse();
    httpAdapter.reply(response, body, status);
  }
}
