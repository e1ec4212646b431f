import { Catch, Injectable, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { failureAnswer, replyFailure } from '../http/failure.js';

/** Answers every failure of the auth endpoints with `{success: false, message}`, whatever filters the application has. */
@Catch()
@Injectable()
export class AuthExceptionFilter implements ExceptionFilter {
  constructor(private readonly host: HttpAdapterHost) {}

  catch(exception: unknown, host: ArgumentsHost): void {
    const answer = failureAnswer(exception, ({ message }) => ({ success: false, message }));
    replyFailure(this.host, answer, host);
  }
}
