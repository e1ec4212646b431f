import {
  BadRequestException,
  Catch,
  HttpException,
  Injectable,
  type ArgumentsHost,
  type ExceptionFilter,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { failureAnswer, replyFailure } from '../http/failure.js';
import { ServerBusy } from './hashing-queue.js';
import { InvalidUserError } from './user-checks.js';
import { DuplicateUserError } from './user.repository.js';

/** `{success: false, message}` for whatever fails at the endpoints of the users. */
@Catch()
@Injectable()
export class AuthFailureFilter implements ExceptionFilter {
  constructor(private readonly host: HttpAdapterHost) {}

  catch(exception: unknown, host: ArgumentsHost): void {
    const isTheClients = exception instanceof InvalidUserError || exception instanceof DuplicateUserError;
    const answered: unknown = isTheClients
      ? new BadRequestException(exception.message, { cause: exception })
      : exception;
    if (exception instanceof ServerBusy)
      this.host.httpAdapter.setHeader(host.switchToHttp().getResponse(), 'Retry-After', String(exception.retryAfter));
    replyFailure(
      this.host,
      failureAnswer(answered, ({ message }) => ({ success: false, message })),
      host,
    );
  }
}

/** The same for an unknown user, a wrong password and an inactive user. */
export class InvalidCredentials extends HttpException {
  constructor() {
    super('Invalid credentials', 401);
  }
}
