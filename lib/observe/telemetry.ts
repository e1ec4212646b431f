/** Spans and durations of operations, where the API of OpenTelemetry is installed. */
import type { ServerResponse } from 'node:http';
import { finished } from 'node:stream';
import { type CallHandler, type ExecutionContext, HttpException, Module, type NestInterceptor } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import type * as openTelemetry from '@opentelemetry/api';
import { type Observable, tap } from 'rxjs';
import { requireOptional } from '../entities/optional-package.js';

type Api = typeof openTelemetry;

const SCOPE = 'declarest';

class OperationTelemetry implements NestInterceptor {
  private readonly tracer;
  private readonly durations;

  constructor(private readonly api: Api) {
    this.tracer = api.trace.getTracer(SCOPE);
    this.durations = api.metrics.getMeter(SCOPE).createHistogram('declarest.operation.duration', {
      description: 'From the call of an operation to the end of its answer',
      unit: 's',
      advice: { explicitBucketBoundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] },
    });
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (context.getType() !== 'http') return next.handle();
    const operation = `${context.getClass().name}.${context.getHandler().name}`;
    const span = this.tracer.startSpan(operation);
    this.endWithAnswer(span, operation, nodeResponseOf(context));
    const recordUnexpected = (error: unknown): void => {
      if (!(error instanceof HttpException)) span.recordException(error as Error);
    };
    // Nest calls the handler in the context in which `handle` is called.
    return this.api.context
      .with(this.api.trace.setSpan(this.api.context.active(), span), () => next.handle())
      .pipe(tap({ error: recordUnexpected }));
  }

  private endWithAnswer(span: openTelemetry.Span, operation: string, response: ServerResponse): void {
    const start = performance.now();
    finished(response, () => {
      const { statusCode } = response;
      span.setAttribute('http.response.status_code', statusCode);
      if (statusCode >= 500) span.setStatus({ code: this.api.SpanStatusCode.ERROR });
      span.end();
      const attributes = { 'declarest.operation': operation, 'http.response.status_code': statusCode };
      this.durations.record((performance.now() - start) / 1_000, attributes);
    });
  }
}

/** Fastify's reply wraps node's response. */
function nodeResponseOf(context: ExecutionContext): ServerResponse {
  const response = context.switchToHttp().getResponse<ServerResponse & { readonly raw?: ServerResponse }>();
  return response.raw ?? response;
}

const api = requireOptional<Api>('@opentelemetry/api');

/**
 * Tells OpenTelemetry of each operation that passes the access rules, and of the application's own handlers: a span
 * `ProductsController.findAll`, which lasts until the answer is sent, and the histogram `declarest.operation.duration`, in
 * seconds, with the attributes `declarest.operation` and `http.response.status_code`. Without `@opentelemetry/api` it does
 * nothing. The SDK must be started before the application, as its documentation says.
 * @example imports: [TelemetryModule]
 */
@Module({ providers: api ? [{ provide: APP_INTERCEPTOR, useFactory: () => new OperationTelemetry(api) }] : [] })
export class TelemetryModule {}
