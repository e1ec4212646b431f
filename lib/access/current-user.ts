import { createParamDecorator } from '@nestjs/common';
import { requestOf } from './other-contexts.js';
import type { Principal } from '../http/principal.js';
import { principalOf } from './principal.js';

/**
 * The parameter of a handler that receives the user of the request: `{ id, email, roles }` of the token. It is `undefined`
 * where no valid token was sent, which only public routes accept.
 *
 * @example
 * ```ts
 * @Get('orders')
 * orders(@CurrentUser() user: Principal) {
 *   return this.ordersOf(user.id);
 * }
 * ```
 */
export const CurrentUser = createParamDecorator((_: unknown, context): Principal | undefined =>
  principalOf(requestOf(context)),
);
