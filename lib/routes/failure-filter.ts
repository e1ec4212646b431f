/** Answers failures of the package's endpoints, and tells the application, such as its error tracker, of unexpected ones. */
import { Catch, Injectable, Logger, type ArgumentsHost, type ExceptionFilter, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { causeOf, failureAnswer, notify, type Failure, type FailureTools, type ObserveError } from '../http/failure.js';
import type { HttpRequest } from '../http/http-request.js';
import type { FailureContext } from '../http/translation.js';
import { applicationOf, type Application } from './application.js';

const logger = new Logger('declarest');

/**
 * Is called with the unexpected errors of generated and account endpoints, which exception filters do not see. At startup,
 * every singleton provider of any module that extends this class is found.
 */
@Injectable()
export abstract class ErrorObserver {
  /** Cannot change the answer. What it throws is logged. There is no request where `runAs` ran the operation. */
  abstract onUnexpectedError(error: unknown, request: HttpRequest | undefined): void | Promise<void>;
}

/**
 * Translates the messages of failures of generated and account endpoints, except `{error}` of refusals by access rules. At
 * startup, every singleton provider of any module that extends this class is found.
 * @example class Messages extends FailureMessages { translate = (message: string) => this.i18n.t(message); }
 */
@Injectable()
export abstract class FailureMessages {
  /** Is called once for each message of an answer. If it throws, the message is sent as it is, and the error is logged. */
  abstract translate(message: string, context: FailureContext): string | Promise<string>;
}

const findObservers = (application: Application): Set<ErrorObserver> => application.singletonsOf(ErrorObserver);
const findTranslators = (application: Application): Set<FailureMessages> => application.singletonsOf(FailureMessages);

/** Must be called when the providers exist. @throws InvalidOptionError for a provider that is no singleton */
export function findFailureProviders(application: Application): void {
  application.once(findObservers);
  application.once(findTranslators);
}

/** Must be called for each answer, which logs one error of its translations. */
export function failureToolsOf(application: Application): FailureTools {
  const translators = application.once(findTranslators);
  let hasFailed = false;
  const translate: FailureTools['translate'] = async (message, context) => {
    let text = message;
    for (const translator of translators)
      try {
        text = await translator.translate(text, context);
      } catch (error) {
        if (!hasFailed) logger.error('A FailureMessages failed.', causeOf(error));
        hasFailed = true;
      }
    return text;
  };
  return { observe: observerOf(application), translate: translators.size > 0 ? translate : undefined };
}

export function observerOf(application: Application): ObserveError {
  return (error, request) => {
    for (const observer of application.once(findObservers))
      void notify('An ErrorObserver', () => observer.onUnexpectedError(error, request));
  };
}

/** Answers every failure of the package's own controllers, whatever filters the application has. */
export function failureFilter(bodyOf: (failure: Failure, request: HttpRequest) => object): Type<ExceptionFilter> {
  @Catch()
  class FailureFilter implements ExceptionFilter {
    constructor(private readonly moduleRef: ModuleRef) {}

    catch(exception: unknown, host: ArgumentsHost): void {
      const application = applicationOf(this.moduleRef);
      const [request, response] = host.getArgs<[HttpRequest, unknown]>();
      application.answer(request, response, failureAnswer(exception, request, bodyOf, failureToolsOf(application)));
    }
  }
  return FailureFilter;
}
