import { describe, InvalidOptionError } from '../options/invalid-option.js';

/**
 * A serialized origin, as a browser sends it (RFC 6454 §6.2): `https://shop.example`, `http://localhost:5173`. Another
 * spelling of it would never match.
 */
export function checkOrigin(origin: unknown): string {
  const hasUser = typeof origin === 'string' && origin.includes('@');
  const shown = hasUser ? 'a text with a user in it' : describe(origin);
  const refuse = (advice: string): never => {
    throw new InvalidOptionError(
      'cors(allowedOrigin)',
      'an origin such as "https://shop.example", or no argument for every origin',
      shown,
      advice,
    );
  };
  if (typeof origin !== 'string')
    return refuse('give one string; a missing environment variable is not "every origin"');
  if (origin === 'null') return refuse('"null" is the origin of every sandboxed page: name the real one');
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (!url || url.host === '' || origin.includes('*'))
    return refuse('give scheme, host and, if it is not the default one, port');
  const serialized = `${url.protocol}//${url.host}`;
  return serialized === origin
    ? origin
    : refuse(`give exactly ${JSON.stringify(serialized)}, which is what browsers send`);
}
