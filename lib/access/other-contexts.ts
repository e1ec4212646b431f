/**
 * WebSocket gateways, GraphQL resolvers and microservice handlers. URL rules do not apply to them: `@Public()`,
 * `@Authenticated()` and `@Roles()` decide, and the default access without one (contract 3.7).
 */
import { ForbiddenException, UnauthorizedException, type ExecutionContext, type HttpException } from '@nestjs/common';
import { MetadataScanner, type DiscoveryService } from '@nestjs/core';
import type { HttpRequest } from '../http/request-facts.js';
import { isClass } from '../options/invalid-option.js';
import type { ControllerMethod } from '../routes/controller-methods.js';
import { decoratedEffects } from './access-decorators.js';

/** One for each connection: it keeps the authentication of the last message for `@CurrentUser()`. */
const REQUEST = Symbol('declarest.handshakeRequest');

interface Socket {
  readonly handshake?: {
    readonly headers: HttpRequest['headers'];
    readonly auth?: { readonly token?: unknown };
    [REQUEST]?: HttpRequest;
  };
  /** The request that opened the connection. */
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

/** Whether a request opened a connection, which outlives its token: each message is authenticated. */
export const opensConnection = (context: ExecutionContext, { headers }: HttpRequest): boolean =>
  context.getType<string>() === 'ws' || headers.upgrade !== undefined;

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

/** The refusal as an exception of the context. The packages are optional: the first refusal loads them. */
export async function refusalIn(context: ExecutionContext, refusal: HttpException): Promise<Error> {
  const type = context.getType<string>();
  if (type === 'ws') return new (await import('@nestjs/websockets')).WsException(refusal.message);
  if (type === 'rpc') return new (await import('@nestjs/microservices')).RpcException(refusal.message);
  // These have a status code, from which @nestjs/graphql sets the error code UNAUTHENTICATED or FORBIDDEN.
  const Exception = refusal.getStatus() === 401 ? UnauthorizedException : ForbiddenException;
  return new Exception(refusal.message);
}

export interface ContextHandler extends ControllerMethod {
  /** `OrdersGateway.create` */
  readonly name: string;
  /** Whether it is a handler of a gateway or resolver for which only the default access decides. */
  readonly isUndecorated: boolean;
}

/** The metadata key of `@MessagePattern()` and `@EventPattern()`. */
const MICROSERVICE_HANDLER = 'microservices:pattern';
/** Also of `@SubscribeMessage()`, and of `@Query()`, `@Mutation()` and `@Subscription()`. */
const HANDLER_KEYS = [MICROSERVICE_HANDLER, 'websockets:message_mapping', 'graphql:resolver_type'];

/** The handlers of all gateways, resolvers and microservices, inherited ones included. */
export function findHandlers(discovery: DiscoveryService): ContextHandler[] {
  const scanner = new MetadataScanner();
  const classes = [...discovery.getProviders(), ...discovery.getControllers()].map(
    ({ instance, metatype }) => (instance as object | null | undefined)?.constructor ?? metatype,
  );
  return [...new Set(classes)].filter(isClass).flatMap((controller) => {
    const prototype = controller.prototype as object;
    return scanner.getAllMethodNames(prototype).flatMap((name): ContextHandler[] => {
      const method = Reflect.get(prototype, name) as object;
      const keys = HANDLER_KEYS.filter((key) => Reflect.hasMetadata(key, method));
      const isMicroservice = keys.includes(MICROSERVICE_HANDLER);
      const isUndecorated = !isMicroservice && decoratedEffects(controller, method).length === 0;
      return keys.length > 0 ? [{ controller, method, name: `${controller.name}.${name}`, isUndecorated }] : [];
    });
  });
}
