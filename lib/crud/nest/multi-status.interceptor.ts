import { HttpStatus, type NestInterceptor } from '@nestjs/common';
import { tap } from 'rxjs';
import { hasSeparateResults } from '../write/batch-items.js';

/** Answers 207 where each item of a batch has a result of its own. */
export const multiStatusInterceptor: NestInterceptor = {
  intercept: (context, next) =>
    next.handle().pipe(
      tap((answer: { readonly data?: unknown } | null | undefined) => {
        if (!hasSeparateResults(answer?.data)) return;
        context.switchToHttp().getResponse<{ status(code: number): unknown }>().status(HttpStatus.MULTI_STATUS);
      }),
    ),
};
