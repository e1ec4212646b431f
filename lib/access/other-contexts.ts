/**
 * WebSocket gateways, GraphQL resolvers and microservice handlers. URL rules do not apply to them: `@Public()`,
 * `@Authenticated()` and `@Roles()` decide, and the default access without one (contract 3.7).
 */
import type { ExecutionContext, HttpException } from '@nestjs/common';
import type { DiscoveryService } from '@nestjs/core';
import type { HttpRequest } from '../http/request-facts.js';
import { decoratedEffects } from './access-decorators.js';

interface Handshake {
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly auth?: { readonly token?: unknown };
}

/**
 * The request that carries the token: that of a socket.io handshake, or of a GraphQL context. `undefined` elsewhere.
 * socket.io sends the token as `auth.token`, with or without the scheme, or in the `Authorization` header.
 */
export function requestOf(context: ExecutionContext): HttpRequest | undefined {
  const type = context.getType<string>();
  if (type === 'ws') return handshakeRequest(context.switchToWs().getClient<{ handshake?: Handshake }>()?.handshake);
  if (type !== 'graphql') return undefined;
  const { req, request } = context.getArgByIndex<{ req?: HttpRequest; request?: HttpRequest } | undefined>(2) ?? {};
  return req ?? request;
}

/** One request for each connection, which keeps the authentication of the last message. */
const handshakes = new WeakMap<Handshake, HttpRequest>();

function handshakeRequest(handshake: Handshake | undefined): HttpRequest | undefined {
  if (!handshake) return undefined;
  const known = handshakes.get(handshake);
  if (known) return known;
  const { headers = {}, auth } = handshake;
  const token = auth?.token;
  const bearer = typeof token === 'string' && (/^Bearer /i.test(token) ? token : `Bearer ${token}`);
  const request: HttpRequest = { method: 'GET', headers: bearer ? { authorization: bearer } : headers };
  handshakes.set(handshake, request);
  return request;
}

/** A refusal as an exception that the context's own filters report with its message. */
export async function refusalIn(context: ExecutionContext, refusal: HttpException): Promise<Error> {
  const wrap = EXCEPTIONS[context.getType<string>()];
  // Without the package there are no such contexts.
  return wrap ? wrap(refusal).catch(() => refusal) : refusal;
}

type ExceptionClass = new (error: string | object) => Error;

/** The packages are installed only where the application has such handlers, so they are loaded with the first refusal. */
const EXCEPTIONS: Readonly<Record<string, (refusal: HttpException) => Promise<Error>>> = {
  ws: async (refusal) => new (await loadClass('@nestjs/websockets', 'WsException'))(refusal.message),
  rpc: async (refusal) => new (await loadClass('@nestjs/microservices', 'RpcException'))(refusal.message),
};

async function loadClass(packageName: string, name: string): Promise<ExceptionClass> {
  return ((await import(packageName)) as Record<string, ExceptionClass>)[name] as ExceptionClass;
}

/** The keys of the decorators of @nestjs/websockets and @nestjs/graphql. */
const GATEWAY = 'websockets:is_gateway';
const GATEWAY_HANDLER = 'websockets:message_mapping';
const RESOLVER_TYPE = 'graphql:resolver_type';

/** `OrdersGateway.create`: handlers of gateways and resolvers for which only the default access decides. */
export function findUndecoratedHandlers(discovery: DiscoveryService): string[] {
  const classes = discovery
    .getProviders()
    .flatMap(({ metatype }) => (typeof metatype === 'function' ? [metatype] : []));
  return [...new Set(classes)].flatMap((type) => {
    const isGateway = Reflect.hasMetadata(GATEWAY, type);
    const handlers = Object.entries(Object.getOwnPropertyDescriptors((type.prototype as object) ?? {})).filter(
      ([, { value }]) =>
        typeof value === 'function' &&
        (isGateway
          ? Reflect.hasMetadata(GATEWAY_HANDLER, value as object)
          : Reflect.hasMetadata(RESOLVER_TYPE, value as object)),
    );
    return handlers
      .filter(([, { value }]) => decoratedEffects(type, value as object).length === 0)
      .map(([name]) => `${type.name}.${name}`);
  });
}
