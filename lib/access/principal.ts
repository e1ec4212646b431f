import { createParamDecorator } from '@nestjs/common';
import type { HttpRequest } from '../http/request-facts.js';

/** Who sent a request, as its token says. */
export interface Principal {
  /** In the type of the user's primary key. */
  readonly id: string | number;
  /** Empty where the user has none. */
  readonly email: string;
  readonly roles: readonly string[];
}

/** Reads a request's token. `bearerWasSent` tells a bad token from none. */
export abstract class Authenticator {
  abstract authenticate(request: HttpRequest): { readonly principal?: Principal; readonly bearerWasSent: boolean };
}

const AUTHENTICATION = Symbol('declarest.authentication');

/** What the token of a request says; read at most once, and only when the decision or the handler asks. */
export class Authentication {
  private reading: ReturnType<Authenticator['authenticate']> | undefined;

  private constructor(
    private readonly authenticator: Authenticator,
    private readonly request: HttpRequest,
  ) {}

  /**
   * For the guard, before the handler. Kept on the request itself: a WeakMap with an entry for every request takes the
   * garbage collector a seventh of the whole time.
   */
  static begin(
    authenticator: Authenticator,
    request: HttpRequest & { [AUTHENTICATION]?: Authentication },
  ): Authentication {
    return (request[AUTHENTICATION] = new Authentication(authenticator, request));
  }

  static of(request: { readonly [AUTHENTICATION]?: Authentication }): Authentication | undefined {
    return request[AUTHENTICATION];
  }

  get principal(): Principal | undefined {
    return this.read().principal;
  }

  get bearerWasSent(): boolean {
    return this.read().bearerWasSent;
  }

  private read(): ReturnType<Authenticator['authenticate']> {
    return (this.reading ??= this.authenticator.authenticate(this.request));
  }
}

/**
 * The parameter of a handler that tells who sent the request: `{ id, email, roles }` of the token, or `undefined`
 * where no valid one was sent, which only a public route allows.
 */
export const CurrentUser = createParamDecorator((_: unknown, context): Principal | undefined =>
  context.getType() === 'http' ? Authentication.of(context.switchToHttp().getRequest())?.principal : undefined,
);
