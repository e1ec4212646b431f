/** The CORS headers (Fetch standard, "CORS protocol"). Header names are lower-case, as HTTP/2 requires. */
export type CorsHeaders = readonly (readonly [name: string, value: string])[];

/** With one fixed origin or `*`, the response is the same for every origin, so it needs no `Vary`. */
export function corsHeaders(allowedOrigin: string): CorsHeaders {
  return Object.freeze([
    ['access-control-allow-origin', allowedOrigin],
    ['access-control-allow-methods', 'GET, POST, PUT, DELETE, OPTIONS, PATCH'],
    ['access-control-allow-headers', 'Content-Type, Authorization, X-Requested-With'],
    ['access-control-max-age', '600'],
    // The headers that the package itself sends.
    [
      'access-control-expose-headers',
      'Content-Disposition, ETag, Idempotency-Replayed, Location, Retry-After, WWW-Authenticate',
    ],
  ]);
}
