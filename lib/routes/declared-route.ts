/**
 * What the package says about its own routes. It is metadata on the controller's method, which Nest copies onto the
 * handler that the route table sees, so that no feature needs to know another one's controllers.
 */
import type { RequestMethod } from '@nestjs/common';
import type { Answer } from '../http/at-once.js';
import type { Draft } from '../http/json-answer.js';
import type { HttpRequest } from '../http/request-facts.js';
import type { AnyFunction } from './observed-method.js';

const DECLARED_ROUTE = Symbol('declarest.route');

export interface DeclaredRoute {
  /** The option that put it there, for messages: ``CRUD option `endpoint` of Product``. */
  readonly declaredBy: string;
  /** Who gets in when no rule of the application speaks of this very path. */
  readonly access?: 'public' | 'authenticated';
  /** Of a handler that is the package's from end to end. */
  readonly call?: HandlerCall;
}

/** How a handler is called, as its decorators tell Nest. */
export interface HandlerCall {
  readonly method: AnyFunction;
  readonly name: string;
  readonly verb: RequestMethod;
  readonly parameters: readonly ((request: HttpRequest, response: unknown) => unknown)[];
  /** What Nest was told of the parameters: whoever says more of them makes another object of it. */
  readonly told: unknown;
  /** What the method answers, before there is an object of it. */
  readonly answer: (controller: object, values: readonly unknown[]) => Answer<Draft>;
  /** Of an answer that did not fail. */
  readonly status: number;
}

export function declareRoute(handler: object, route: DeclaredRoute): void {
  Reflect.defineMetadata(DECLARED_ROUTE, route, handler);
}

export function declaredRoute(handler: object): DeclaredRoute | undefined {
  return Reflect.getMetadata(DECLARED_ROUTE, handler) as DeclaredRoute | undefined;
}
