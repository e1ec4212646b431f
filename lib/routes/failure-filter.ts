/** Answers failures of the package's endpoints, and tells the application, such as its error tracker, of unexpected ones. */
import { Catch, Injectable, type ArgumentsHost, type ExceptionFilter, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { failureAnswer, notify, type Failure, type ObserveError } from '../http/failure.js';
import type { HttpRequest } from '../http/http-request.js';
import { applicationOf, type Application } from './application.js';

/**
 * Is called with the unexpected errors of generated and account endpoints, which exception filters do not see. At startup,
 * every singleton provider of any module that extends this class is found.
 */
@Injectable()
export abstract class ErrorObserver {
  /** Cannot change the answer. What it throws is logged. There is no request where `runAs` ran the operation. */
  abstract onUnexpectedError(error: unknown, request: HttpRequest | undefined): void | Promise<void>;
}

const findObservers = (application: Application): Set<ErrorObserver> => application.singletonsOf(ErrorObserver);

/** Must be called when the providers exist. @throws InvalidOptionError for an observer that is no singleton */
export const observersOf = (application: Application): Set<ErrorObserver> => application.once(findObservers);

export function observerOf(application: Application): ObserveError {
  return (error, request) => {
    for (const observer of observersOf(application))
      void notify('An ErrorObserver', () => observer.onUnexpectedError(error, request));
  };
}

/** Answers every failure of the package's own controllers, whatever filters the application has. */
export function failureFilter(bodyOf: (failure: Failure) => object): Type<ExceptionFilter> {
  @Catch()
  class FailureFilter implements ExceptionFilter {
    constructor(private readonly moduleRef: ModuleRef) {}

    catch(exception: unknown, host: ArgumentsHost): void {
      const application = applicationOf(this.moduleRef);
      const [request, response] = host.getArgs<[HttpRequest, unknown]>();
      application.answer(request, response, failureAnswer(exception, request, bodyOf, observerOf(application)));
    }
  }
  return FailureFilter;
}
