/** Describes the headers of the option `throttle.rateLimitHeaders`. */
import { textHeader, type OperationDocument } from '../documents/operation-document.js';
import type { RateLimitSettings } from './rate-limit.js';

const HEADERS = {
  ...textHeader('RateLimit', 'What is left of the policy: `"login";r=0;t=4`.'),
  ...textHeader('RateLimit-Policy', 'The quota, and the window in seconds: `"login";q=20;w=3600`.'),
};

/** Adds the headers to the answer 429, where there is one and the option is on. */
export function describeRateLimit(operation: OperationDocument, settings: RateLimitSettings): OperationDocument {
  const { 429: limited, ...others } = operation.responses;
  if (!limited || !settings?.rateLimitHeaders) return operation;
  return { ...operation, responses: { ...others, 429: { ...limited, headers: { ...limited.headers, ...HEADERS } } } };
}
