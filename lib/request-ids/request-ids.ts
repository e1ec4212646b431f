/** The id of a request: it joins the answer, the lines of logs, and what a proxy and other services say of the request. */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { contexts } from '../http/request-context.js';

interface WithHeaders {
  readonly headers: IncomingHttpHeaders;
}

const NAME = 'X-Request-Id';
const KEY = 'x-request-id';
/** What a log need not escape. A client may send anything else. */
const ID = /^[\w.:~+/=-]{1,128}$/;
/** W3C Trace Context, "traceparent header": version, trace id, parent id, flags. Only later versions than 00 have more. */
const TRACE_PARENT = /^(?!ff|00.{54})[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-.*)?$/;

/**
 * The id of a request: what `requestIds()` has set, or else the `X-Request-Id` of a proxy. `undefined` where there is none,
 * or where it has more than 128 characters, or others than letters, digits and `. _ ~ : + / = -`.
 * @param request by default the one in whose code it is called
 */
export function requestIdOf(request: WithHeaders | undefined = contexts.getStore()?.request): string | undefined {
  const id = request?.headers[KEY];
  return typeof id === 'string' && ID.test(id) ? id : undefined;
}

/** What tells of the request in whose code it happens. */
export interface Traced {
  /** As `requestIdOf` reads it. `undefined` outside of a request. */
  readonly requestId: string | undefined;
}

export const currentRequest = (): Traced => ({ requestId: requestIdOf() });

/**
 * Middleware that gives each request an id: its own `X-Request-Id`, which a proxy sets, or else the trace id of its
 * `traceparent` (W3C Trace Context), or else a new UUID. Every answer has it as `X-Request-Id`, and the code of the request
 * finds it in the header of that name.
 * @example
 * const app = await NestFactory.create(AppModule);
 * app.use(requestIds()); // before app.listen(), and before other middleware
 */
export function requestIds() {
  return (request: WithHeaders, response: Pick<ServerResponse, 'setHeader'>, next: () => void): void => {
    const trace = TRACE_PARENT.exec(String(request.headers['traceparent']))?.[1];
    const id = requestIdOf(request) ?? trace ?? randomUUID();
    request.headers[KEY] = id;
    response.setHeader(NAME, id);
    next();
  };
}
