/**
 * The CORS headers (Fetch standard, "CORS protocol"), prepared once. Their names are written small, as HTTP/2 wants them and
 * HTTP/1.1 does not mind: node and Fastify would make them small for every answer.
 */
export type CorsHeaders = readonly (readonly [name: string, value: string])[];

/** What the package itself sends and a page may want to read. */
const EXPOSED = ['Location', 'Retry-After', 'WWW-Authenticate'];

/** With one fixed origin, or `*`, the answer is the same for every origin: no `Vary` is needed. */
export function corsHeaders(allowedOrigin: string): CorsHeaders {
  return Object.freeze([
    ['access-control-allow-origin', allowedOrigin],
    ['access-control-allow-methods', 'GET, POST, PUT, DELETE, OPTIONS, PATCH'],
    ['access-control-allow-headers', 'Content-Type, Authorization, X-Requested-With'],
    ['access-control-max-age', '600'],
    ['access-control-expose-headers', EXPOSED.join(', ')],
  ]);
}
