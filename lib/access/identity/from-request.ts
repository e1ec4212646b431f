/** Users that the application has identified before: by guards such as those of passport, by middleware, or by a gateway. */
import type { CanActivate, ExecutionContext, Type } from '@nestjs/common';
import { isObservable, lastValueFrom } from 'rxjs';
import type { HttpRequest } from '../../http/http-request.js';
import { describe, expectKnownNames, InvalidOptionError, isClass } from '../../options/invalid-option.js';
import { isFunction } from '../../options/option-table.js';
import type { Authenticate, ExternalUser, UserSource } from './user-source.js';

/** A request of the platform, with what guards and middleware have set. */
export interface IdentifiedRequest extends HttpRequest {
  // oxlint-disable-next-line typescript/no-explicit-any -- its type belongs to the application
  readonly user?: any;
}

export interface FromRequestOptions {
  /**
   * Guards that identify the user: they run for every handler, before the rules decide. Where one refuses, the request has
   * no user, and public routes go on.
   * @default []
   */
  readonly guards?: readonly (Type<CanActivate> | CanActivate)[];
}

const NAME = 'fromRequest';
const GUARD_ADVICE = "give for example [AuthGuard('jwt')]";

/**
 * Takes the user from a request. It runs in the guard of declarest, behind all middleware; `request.user` is then what the
 * function has returned.
 * @param userOf returns nothing for a request without a user
 * @throws InvalidOptionError
 * @example
 * AccessModule.forRoot({
 *   authenticate: fromRequest(({ user }) => user && { id: user.userId, roles: user.roles }, { guards: [AuthGuard('jwt')] }),
 * })
 */
export function fromRequest<R extends HttpRequest = IdentifiedRequest>(
  userOf: (request: R) => ReturnType<Authenticate> | false | '' | 0,
  options: FromRequestOptions = {},
): UserSource {
  if (!isFunction(userOf)) {
    const advice = 'give for example ({ user }) => user && { id: user.id, roles: user.roles }';
    throw new InvalidOptionError(`The first argument of ${NAME}`, 'a function', describe(userOf), advice);
  }
  expectKnownNames(`The options of ${NAME}`, options, ['guards']);
  const { guards = [] } = options;
  const isGuard = (guard: unknown): boolean =>
    isFunction((isClass(guard) ? guard.prototype : (guard as object | undefined))?.['canActivate' as never]);
  if (!Array.isArray(guards) || !guards.every(isGuard)) {
    const got = Array.isArray(guards) ? guards.map(describe).join(', ') : describe(guards);
    throw new InvalidOptionError(`\`guards\` of ${NAME}`, 'an array of guards', got, GUARD_ADVICE);
  }
  return {
    inGuard: true,
    decidesBy: { userOf, guards },
    async start(injectableOf) {
      const instances: CanActivate[] = [];
      for (const guard of guards as readonly (Type<CanActivate> | CanActivate)[])
        instances.push(isClass(guard) ? await injectableOf(guard as Type<CanActivate>) : guard);
      return async (request, context) => {
        for (const guard of instances) if (!context || !(await passes(guard, context))) return undefined;
        return ((await userOf(request as R)) || undefined) as ExternalUser | undefined;
      };
    },
  };
}

async function passes(guard: CanActivate, context: ExecutionContext): Promise<boolean> {
  const result = guard.canActivate(context);
  return (await (isObservable(result) ? lastValueFrom(result) : result)) === true;
}
