/** The CORS headers (Fetch standard, "CORS protocol"), prepared once. */
export type CorsHeaders = readonly (readonly [name: string, value: string])[];

/** What the package itself sends and a page may want to read. */
const EXPOSED = ['Location', 'Retry-After', 'WWW-Authenticate'];

/** With one fixed origin, or `*`, the answer is the same for every origin: no `Vary` is needed. */
export function corsHeaders(allowedOrigin: string): CorsHeaders {
  return Object.freeze([
    ['Access-Control-Allow-Origin', allowedOrigin],
    ['Access-Control-Allow-Methods', 'GET, POST, PUT, DELETE, OPTIONS, PATCH'],
    ['Access-Control-Allow-Headers', 'Content-Type, Authorization, X-Requested-With'],
    ['Access-Control-Max-Age', '600'],
    ['Access-Control-Expose-Headers', EXPOSED.join(', ')],
  ]);
}
