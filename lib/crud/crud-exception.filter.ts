import { Catch, Injectable, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { DatabaseBusy } from '../entities/database-error.js';
import { readBrokenEscapes } from '../http/broken-escapes.js';
import { failureAnswer, replyFailure } from '../http/failure.js';
import { deferUnreadableBodies } from '../http/unreadable-body.js';
import { failureEnvelope } from './envelope.js';

/** Seconds until a client may try again while the database is busy or unreachable. */
const RETRY_AFTER = '1';

/** Answers every failure of a generated controller in the shape of `FailureEnvelope`. */
@Catch()
@Injectable()
export class CrudExceptionFilter implements ExceptionFilter {
  constructor(private readonly host: HttpAdapterHost) {
    deferUnreadableBodies(host, 'own routes');
    readBrokenEscapes(host);
  }

  catch(exception: unknown, host: ArgumentsHost): void {
    if (exception instanceof DatabaseBusy)
      this.host.httpAdapter.setHeader(host.switchToHttp().getResponse(), 'Retry-After', RETRY_AFTER);
    const answer = failureAnswer(exception, ({ message, errors }) => failureEnvelope(message, errors));
    replyFailure(this.host, answer, host);
  }
}
