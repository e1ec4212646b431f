/** Sends failures: in the package's own bodies, or as problem details (RFC 9457) to clients that prefer those. */
import { STATUS_CODES } from 'node:http';
import { Catch, type ArgumentsHost, type ExceptionFilter, HttpException, type HttpServer } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FailureAnswer } from '../http/failure.js';
import type { HeaderWriter, HttpRequest } from '../http/http-request.js';
import { requestIdOf } from '../request-ids/request-ids.js';
import { PROBLEM, prefersProblem } from './accept.js';

type Adapter = Pick<HttpServer, 'setHeader' | 'reply'>;

/** Answers a request in the place of its handler. */
export function sendFailure(adapter: Adapter, request: HttpRequest, response: unknown, failure: FailureAnswer): void {
  const { status, body, headers } = failure;
  const isProblem = isObject(body) && prefersProblem(request);
  const negotiated = isObject(body) && {
    Vary: withAccept((response as HeaderWriter).getHeader?.('Vary')),
    ...(isProblem && { 'Content-Type': PROBLEM }),
  };
  for (const [name, value] of Object.entries({ ...headers, ...negotiated })) adapter.setHeader(response, name, value);
  adapter.reply(response, isProblem ? { ...problemOf(status, body), requestId: requestIdOf(request) } : body, status);
}

type Body = Readonly<Record<string, unknown>>;

const isObject = (body: unknown): body is Body => typeof body === 'object' && body !== null;

/** Members that problem details have in other words, or not at all. Nest's own bodies have `statusCode`. */
const LEFT_OUT = ['success', 'message', 'timestamp', 'statusCode'];

/** Keeps what only the body has, such as `errors`, `fields` and a `code` of the application. */
function problemOf(status: number, body: Body): object {
  const { message, error, statusCode } = body;
  const isTitle = message === undefined || statusCode !== undefined;
  const own = Object.entries(body).filter(([name]) => !LEFT_OUT.includes(name) && !(name === 'error' && isTitle));
  const title = STATUS_CODES[status] ?? 'Error';
  return { type: 'about:blank', title, ...Object.fromEntries(own), status, detail: message ?? error };
}

/** Other caches than the client's must not give one client the body of another one. */
function withAccept(vary: ReturnType<NonNullable<HeaderWriter['getHeader']>>): string {
  const known = [vary ?? []].flat().join(', ');
  return /(^|,)\s*(\*|accept)\s*(,|$)/i.test(known) ? known : [...(known ? [known] : []), 'Accept'].join(', ');
}

/** The refusals of requests that prefer problem details, on routes of the application. */
const preferred = new WeakSet<object>();

/** Sets the headers of a refusal, because filters of the application write the response on its own routes. */
export function negotiateRefusal(
  request: HttpRequest,
  response: HeaderWriter,
  { exception, headers }: Pick<FailureAnswer, 'headers'> & { readonly exception: HttpException },
): HttpException {
  // No `Vary`: a cache keeps 401 and 403 only where it is told to (RFC 9110 §15.1).
  for (const [name, value] of Object.entries(headers)) response.header(name, value);
  if (prefersProblem(request)) preferred.add(exception);
  return exception;
}

/** An instance is a refusal that `negotiateRefusal` has seen, so that filters of the application catch all others. */
abstract class PreferredProblem extends HttpException {
  static override [Symbol.hasInstance](exception: unknown): boolean {
    return isObject(exception) && preferred.has(exception);
  }
}

/** Answers refusals of access rules on routes of the application, whose default filter sends no problem details. */
@Catch(PreferredProblem)
export class ProblemFilter implements ExceptionFilter<HttpException> {
  constructor(private readonly host: HttpAdapterHost) {}

  catch(exception: HttpException, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const failure = { status: exception.getStatus(), body: exception.getResponse(), headers: {} };
    sendFailure(this.host.httpAdapter, http.getRequest<HttpRequest>(), http.getResponse(), failure);
  }
}
