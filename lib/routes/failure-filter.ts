import { Catch, type ArgumentsHost, type ExceptionFilter, type Type } from '@nestjs/common';
import { HttpAdapterHost, ModuleRef } from '@nestjs/core';
import { failureAnswer, type Failure } from '../http/failure.js';
import type { HttpRequest } from '../http/request-facts.js';
import { applicationOf } from './application.js';
import { observerOf } from './error-observer.js';

/** Answers every failure of the package's own controllers, whatever filters the application has. */
export function failureFilter(bodyOf: (failure: Failure) => object): Type<ExceptionFilter> {
  @Catch()
  class FailureFilter implements ExceptionFilter {
    constructor(
      private readonly host: HttpAdapterHost,
      private readonly moduleRef: ModuleRef,
    ) {}

    catch(exception: unknown, host: ArgumentsHost): void {
      const { httpAdapter } = this.host;
      const http = host.switchToHttp();
      const response: unknown = http.getResponse();
      const observe = observerOf(applicationOf(this.moduleRef));
      const { status, body, headers } = failureAnswer(exception, http.getRequest<HttpRequest>(), bodyOf, observe);
      for (const [name, value] of Object.entries(headers)) httpAdapter.setHeader(response, name, value);
      httpAdapter.reply(response, body, status);
    }
  }
  return FailureFilter;
}
