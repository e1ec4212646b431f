/** The request that a handler is called for, of HTTP, of GraphQL, or of a message of a connection, and its user. */
import { createParamDecorator, Injectable } from '@nestjs/common';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { Observable } from 'rxjs';
import { authenticationOf, type Principal } from '../../http/caller.js';
import type { HttpRequest } from '../../http/http-request.js';
import { markOwn } from '../../http/own-code.js';
import { contexts } from '../../http/request-context.js';

/** One for each connection: it keeps the authentication of the last message for `@CurrentUser()`. */
const REQUEST = Symbol('declarest.handshakeRequest');

interface Socket {
  readonly handshake?: {
    readonly headers: HttpRequest['headers'];
    readonly auth?: { readonly token?: unknown };
    [REQUEST]?: HttpRequest;
  };
  readonly request?: { readonly rawHeaders?: readonly string[] };
}

type GraphqlContext = { readonly req?: Partial<HttpRequest>; readonly request?: Partial<HttpRequest> } | undefined;

/** The request that carries the token: that of HTTP or of a GraphQL context, or a socket.io handshake, or none. */
export function requestOf(context: ExecutionContext): HttpRequest | undefined {
  const type = context.getType<string>();
  if (type === 'http') return context.switchToHttp().getRequest<HttpRequest>();
  if (type === 'ws') return handshakeRequest(context.switchToWs().getClient<Socket>());
  if (type !== 'graphql') return undefined;
  // The reference resolver of a federated graph has no arguments in front of the context.
  const { req, request } = context.getArgByIndex<GraphqlContext>(context.getArgs().length === 3 ? 1 : 2) ?? {};
  return [req, request].find((each): each is HttpRequest => typeof each?.headers === 'object');
}

/** socket.io sends the token as `auth.token`, with or without `Bearer`, or in the `Authorization` header. */
function handshakeRequest({ handshake, request: opening }: Socket): HttpRequest | undefined {
  if (!handshake) return undefined;
  const token = handshake.auth?.token;
  // Read for each message: the application may replace the token of a connection.
  const sent =
    typeof token === 'string'
      ? { headers: { authorization: /^Bearer /i.test(token) ? token : `Bearer ${token}` }, rawHeaders: [] }
      : { headers: handshake.headers, rawHeaders: opening?.rawHeaders ?? [] };
  return (handshake[REQUEST] = Object.assign(handshake[REQUEST] ?? { method: 'GET' }, sent));
}

/**
 * The parameter of a handler that receives the user of the request: `{ id, email, roles }` of the token. It is `undefined`
 * where no valid token was sent, which only public routes accept.
 * @example orders(@CurrentUser() user: Principal) { return this.ordersOf(user.id); }
 */
export const CurrentUser = createParamDecorator((_: unknown, context): Principal | undefined => {
  const request = requestOf(context);
  return request && authenticationOf(request)?.principal;
});

/** Gives handlers the context of their request where the middleware does not: in gateways, and behind parsers that lose it. */
@markOwn
@Injectable()
export class RequestContextInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = requestOf(context);
    const store = contexts.getStore();
    if (!request || store?.request === request) return next.handle();
    // A connection keeps its request, whose user may be another one for the next message.
    const own = context.getType() === 'ws' ? { ...request } : request;
    return new Observable((subscriber) =>
      contexts.run({ ...store, request: own }, () => next.handle().subscribe(subscriber)),
    );
  }
}
