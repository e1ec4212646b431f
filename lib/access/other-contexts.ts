/** WebSocket gateways, GraphQL resolvers and microservice handlers, to which only decorators apply (contract 3.7). */
import { ForbiddenException, ServiceUnavailableException, UnauthorizedException } from '@nestjs/common';
import type { ExecutionContext, HttpException } from '@nestjs/common';
import { MetadataScanner, type DiscoveryService } from '@nestjs/core';
import type { HttpRequest } from '../http/http-request.js';
import { isClass } from '../options/invalid-option.js';
import type { ControllerMethod } from '../routes/controller-methods.js';
import { decoratedEffects } from './access-decorators.js';

/** Whether a request opened a connection, which outlives its token: each message is authenticated. */
export const opensConnection = (context: ExecutionContext, { headers }: HttpRequest): boolean =>
  context.getType<string>() === 'ws' || headers.upgrade !== undefined;

const EXCEPTIONS: Readonly<Record<number, new (message: string) => HttpException>> = {
  401: UnauthorizedException,
  503: ServiceUnavailableException,
};

/** The refusal as an exception of the context. The packages are optional: the first refusal loads them. */
export async function refusalIn(context: ExecutionContext, refusal: HttpException): Promise<Error> {
  const type = context.getType<string>();
  if (type === 'ws') return new (await import('@nestjs/websockets')).WsException(refusal.message);
  if (type === 'rpc') return new (await import('@nestjs/microservices')).RpcException(refusal.message);
  // These have a status code, from which @nestjs/graphql sets the error code UNAUTHENTICATED or FORBIDDEN.
  const Exception = EXCEPTIONS[refusal.getStatus()] ?? ForbiddenException;
  return new Exception(refusal.message);
}

export interface ContextHandler extends ControllerMethod {
  readonly name: string;
  /** Whether it is a handler of a gateway or resolver for which only the default access decides. */
  readonly isUndecorated: boolean;
}

/** The metadata keys of `@MessagePattern()` and `@EventPattern()`; and of handlers of gateways and resolvers. */
const MICROSERVICE_HANDLER = 'microservices:pattern';
const HANDLER_KEYS = [MICROSERVICE_HANDLER, 'websockets:message_mapping', 'graphql:resolver_type'];

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
