import { Catch, Injectable, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { failureAnswer, replyFailure } from '../http/failure.js';
import { failureEnvelope } from './envelope.js';

/** Answers every failure of a generated controller in the shape of `FailureEnvelope`. */
@Catch()
@Injectable()
export class CrudExceptionFilter implements ExceptionFilter {
  constructor(private readonly host: HttpAdapterHost) {}

  catch(exception: unknown, host: ArgumentsHost): void {
    const answer = failureAnswer(exception, ({ message, errors }) => failureEnvelope(message, errors));
    replyFailure(this.host, answer, host);
  }
}
