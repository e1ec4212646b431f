/** Answers to a user are for that user: no cache keeps them (OWASP ASVS 5.0, 14.3.2). */
import type { CanActivate } from '@nestjs/common';
import type { HeaderWriter, HttpRequest } from '../http/http-request.js';
import { userOf } from '../http/caller.js';
import { markOwn } from '../http/own-code.js';

/** For the endpoints of accounts. A header that their handlers set comes later. */
export const noStore: CanActivate = markOwn({
  canActivate(context) {
    context.switchToHttp().getResponse<HeaderWriter>().header('Cache-Control', 'no-store');
    return true;
  },
});

/** A guard, because most generated reads have no interceptor, for their speed. A route's own `@Header()` comes later. */
export const noStoreForUsers: CanActivate = markOwn({
  canActivate(context) {
    const http = context.switchToHttp();
    if (userOf(http.getRequest<HttpRequest>())) http.getResponse<HeaderWriter>().header('Cache-Control', 'no-store');
    return true;
  },
});
