/** What the package answers when one of its own routes fails: status and sentence, and never an inner detail. */
import { STATUS_CODES } from 'node:http';
import {
  Catch,
  HttpException,
  Logger,
  ServiceUnavailableException,
  type ArgumentsHost,
  type ExceptionFilter,
  type Type,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { AccessRefused, AuthenticationRequired } from './refusal.js';

export interface FieldError {
  readonly field: string;
  readonly message: string;
}

export interface Failure {
  readonly status: number;
  readonly message: string;
  readonly errors?: readonly FieldError[];
}

/** An answer lists at most 20 errors, so that no request causes a response many times its size. */
export const MAX_ERRORS = 20;

function limitErrors(errors: readonly FieldError[]): readonly FieldError[] {
  if (errors.length <= MAX_ERRORS) return errors;
  return [...errors.slice(0, MAX_ERRORS), { field: '', message: `… and ${errors.length - MAX_ERRORS} more` }];
}

/** 503 with `Retry-After` in seconds. */
export class ServiceUnavailable extends ServiceUnavailableException {
  constructor(
    message: string,
    readonly retryAfter: number,
    options?: { readonly cause?: unknown },
  ) {
    super(message, options);
  }
}

/** The parser's own messages quote the body, which may hold a password: these do not. */
const UNREADABLE: Readonly<Record<number, string>> = {
  400: 'The request body is not a valid JSON object',
  413: 'The request body is larger than this server accepts',
  415: 'The request body must be application/json in UTF-8',
};

const logger = new Logger('declarest');

/** A body that the platform could not read; on the application's own routes it says what the platform says. */
export class UnreadableBody extends HttpException {
  constructor(cause: unknown) {
    const status = platformStatusOf(cause) ?? 400;
    const message = cause instanceof Error ? cause.message : '';
    super(HttpException.createBody(message, STATUS_CODES[status] ?? '', status), status, { cause });
  }
}

export function failureOf(exception: unknown): Failure {
  if (exception instanceof HttpException) return { status: exception.getStatus(), ...wordsOf(exception) };
  logger.error('A request failed unexpectedly.', exception instanceof Error ? exception.stack : undefined);
  return { status: 500, message: 'Internal server error' };
}

/** What a failed request of the package's own routes is answered with. A refusal keeps its body. */
export function failureAnswer(exception: unknown, bodyOf: (failure: Failure) => object) {
  const headers: Record<string, string> = {};
  if (exception instanceof AuthenticationRequired) headers['WWW-Authenticate'] = exception.challenge;
  if (exception instanceof ServiceUnavailable) headers['Retry-After'] = String(exception.retryAfter);
  if (exception instanceof AuthenticationRequired || exception instanceof AccessRefused)
    return { status: exception.getStatus(), body: exception.getResponse() as object, headers };
  const failure = failureOf(exception);
  return { status: failure.status, body: bodyOf(failure), headers };
}

/** A filter for the package's own controllers. It answers every failure, whatever filters the application has. */
export function failureFilter(bodyOf: (failure: Failure) => object): Type<ExceptionFilter> {
  @Catch()
  class FailureFilter implements ExceptionFilter {
    constructor(private readonly host: HttpAdapterHost) {}

    catch(exception: unknown, host: ArgumentsHost): void {
      const { httpAdapter } = this.host;
      const response: unknown = host.switchToHttp().getResponse();
      const { status, body, headers } = failureAnswer(exception, bodyOf);
      for (const [name, value] of Object.entries(headers)) httpAdapter.setHeader(response, name, value);
      httpAdapter.reply(response, body, status);
    }
  }
  return FailureFilter;
}

function wordsOf(exception: HttpException): Pick<Failure, 'message' | 'errors'> {
  if (exception instanceof UnreadableBody)
    return { message: UNREADABLE[exception.getStatus()] ?? 'The request body cannot be read' };
  const body = exception.getResponse();
  if (typeof body === 'string') return { message: body };
  const { message, errors } = body as { message?: unknown; errors?: readonly FieldError[] };
  const words = Array.isArray(message) ? message.join('; ') : message;
  return {
    message: typeof words === 'string' ? words : exception.message,
    ...(errors && { errors: limitErrors(errors) }),
  };
}

/** Express's body parser (http-errors) and Fastify mark what the client did wrong with a status of 4xx. */
export function platformStatusOf(exception: unknown): number | undefined {
  const { statusCode, status = statusCode } = (exception ?? {}) as { status?: unknown; statusCode?: unknown };
  return typeof status === 'number' && status >= 400 && status < 500 ? status : undefined;
}
