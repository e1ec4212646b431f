/** The CORS headers (Fetch standard, "CORS protocol"), prepared once. */
import type { AnswerHeaders } from '../routing/direct-middleware.js';

/** What the package itself sends and a page may want to read. */
const EXPOSED = ['Location', 'Retry-After', 'WWW-Authenticate'];

/** With one fixed origin, or `*`, the answer is the same for every origin: no `Vary` is needed. */
export function corsHeaders(allowedOrigin: string): AnswerHeaders {
  return Object.freeze([
    ['Access-Control-Allow-Origin', allowedOrigin],
    ['Access-Control-Allow-Methods', 'GET, POST, PUT, DELETE, OPTIONS, PATCH'],
    ['Access-Control-Allow-Headers', 'Content-Type, Authorization, X-Requested-With'],
    ['Access-Control-Max-Age', '600'],
    ['Access-Control-Expose-Headers', EXPOSED.join(', ')],
  ]);
}
