import { ForbiddenException, UnauthorizedException, type HttpException } from '@nestjs/common';
import type { Draft } from './json-answer.js';

interface RefusalBody {
  readonly error: string;
}

/** 401 with the contract's exact body, and the challenge that RFC 9110 §15.5.2 asks for. */
export class AuthenticationRequired extends UnauthorizedException {
  /** The `WWW-Authenticate` header. RFC 6750 §3: `error="invalid_token"` only when a Bearer token was sent. */
  readonly challenge: string;

  constructor(bearerWasSent: boolean) {
    super({ error: 'Authentication required' } satisfies RefusalBody);
    this.challenge = bearerWasSent ? 'Bearer error="invalid_token"' : 'Bearer';
  }
}

/** 403: `SUPPORT_AGENT` → `{error: "Support agent access required"}`, any of several joined by "or"; without one, nobody gets in. */
export class AccessRefused extends ForbiddenException {
  constructor(missing: readonly string[] = []) {
    const words = missing.map((name) => name.replaceAll('_', ' ').toLowerCase()).join(' or ');
    super({
      error: words === '' ? 'Access denied' : `${words.charAt(0).toUpperCase()}${words.slice(1)} access required`,
    } satisfies RefusalBody);
  }
}

/**
 * A refusal as a value. Where Nest answers, its filters hear of it as an exception; where the package does, nothing is
 * thrown: V8 counts the returns of a function before it compiles it, so what only ever throws is interpreted for ever.
 */
export class Refused<E extends HttpException = HttpException> implements Draft {
  readonly status: number;
  private readonly json: string;

  private constructor(
    /** One that nobody gets to see. */
    readonly example: E,
    private readonly make: () => E,
  ) {
    this.status = example.getStatus();
    this.json = JSON.stringify(example.getResponse());
  }

  static by<E extends HttpException>(make: () => E): Refused<E> {
    return new Refused(withoutStack(make), make);
  }

  /** Whoever catches it may change it: it is a new one each time. */
  exception(): E {
    return withoutStack(this.make);
  }

  text(): string {
    return this.json;
  }

  object(): object {
    return JSON.parse(this.json) as object;
  }
}

export const NO_TOKEN = Refused.by(() => new AuthenticationRequired(false));
export const BAD_TOKEN = Refused.by(() => new AuthenticationRequired(true));

/**
 * Makes an exception without its stack: a refusal is no fault, and where it comes from is known. Capturing the stack took
 * a fifth of the time of a 401, the cheapest request to flood a service with.
 */
function withoutStack<E extends Error>(make: () => E): E {
  const limit = Error.stackTraceLimit;
  // Where a hardened process has frozen `Error`, the stack is captured.
  Reflect.set(Error, 'stackTraceLimit', 0);
  try {
    return make();
  } finally {
    Reflect.set(Error, 'stackTraceLimit', limit);
  }
}
