/** What the routes of authentication have in common. */
import { applyDecorators, createParamDecorator, Controller, Header, UseFilters } from '@nestjs/common';
import { authenticationOf } from '../access/principal.js';
import { hasBody, jsonBodyOf } from '../http/json-body.js';
import type { Principal } from '../http/principal.js';
import type { HttpRequest } from '../http/request-facts.js';
import { AuthenticationRequired } from '../http/refusal.js';
import { declareRoute, type DeclaredRoute } from '../routes/declared-route.js';
import { failureFilter } from '../routes/failure-filter.js';

const AuthFailureFilter = failureFilter(({ message, members }) => ({ ...members, success: false, message }));

/** A controller below `authBasePath`. */
export const AuthController = (basePath: string): ClassDecorator =>
  applyDecorators(Controller(basePath), UseFilters(AuthFailureFilter)) as ClassDecorator;

/**
 * The access where the application has no rule for the very same path. Stands above the decorator of the verb.
 *
 * @param readsCaller whether the user of the token is read again
 */
export const DefaultAccess =
  (access: NonNullable<DeclaredRoute['access']>, readsCaller = false): MethodDecorator =>
  (_target, _name, { value }) =>
    declareRoute(value as object, { declaredBy: 'AuthModule option `authBasePath`', access, readsCaller });

/** For answers with a token. */
export const NoStore = (): MethodDecorator => Header('Cache-Control', 'no-store');

/** A decorator that depends on the options. */
export const when = (condition: boolean, decorator: MethodDecorator): MethodDecorator =>
  condition ? decorator : () => undefined;

/** The JSON object of the body; empty where the request has no body. */
export const OptionalJsonBody = createParamDecorator((_: unknown, context) => {
  const request = context.switchToHttp().getRequest<HttpRequest>();
  return hasBody(request) ? jsonBodyOf(request) : {};
});

/** The user of the token. @throws AuthenticationRequired (401) where a rule of the application opened the route */
export const SignedIn = createParamDecorator((_: unknown, context): Principal => {
  const { principal, bearerWasSent } = authenticationOf(context.switchToHttp().getRequest<HttpRequest>()) ?? {};
  if (principal) return principal;
  throw new AuthenticationRequired(bearerWasSent === true);
});
