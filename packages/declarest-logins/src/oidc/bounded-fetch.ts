/** Requests to providers. An answer that is too large, too late, or none at all means that the provider is away. */
import type { CustomFetch } from 'openid-client';
import { ServiceUnavailable } from 'declarest/plugin';
import { readBody } from '../remote-servers.js';

const MAX_BYTES = 1_048_576;
const RETRY_SECONDS = 10;

export const unavailable = (cause: unknown): ServiceUnavailable =>
  new ServiceUnavailable('The login provider is not available, try again later', RETRY_SECONDS, { cause });

/** `openid-client` wraps what `boundedFetch` throws. */
export function unavailableIn(error: unknown): ServiceUnavailable | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof ServiceUnavailable) return cause;
  return undefined;
}

/** @throws ServiceUnavailable (503) */
export const boundedFetch: CustomFetch = async (url, options) => {
  try {
    const response = await fetch(url, options as RequestInit);
    const { status, headers } = response;
    if (status >= 500 || status === 429) throw new Error(`it answered ${status}`);
    const body = await readBody(response, MAX_BYTES, `its answer is larger than ${MAX_BYTES} bytes`);
    return new Response(body.length > 0 ? body : null, { status, headers });
  } catch (error) {
    // `fetch` wraps what the connection says.
    throw unavailable(error instanceof TypeError ? (error.cause ?? error) : error);
  }
};
