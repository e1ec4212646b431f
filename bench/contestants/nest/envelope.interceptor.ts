import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { map, type Observable } from 'rxjs';

/** The part of the envelope that a controller returns. */
export interface Answer {
  readonly message: string;
  readonly data: unknown;
  readonly metadata?: object;
}

@Injectable()
export class EnvelopeInterceptor implements NestInterceptor<Answer> {
  intercept(_context: ExecutionContext, next: CallHandler<Answer>): Observable<object> {
    return next.handle().pipe(map((answer) => ({ success: true, ...answer, timestamp: localTimestamp() })));
  }
}

function localTimestamp(): string {
  const now = new Date();
  return new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, -1);
}
