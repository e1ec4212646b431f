import { describe, InvalidOptionError } from '../options/invalid-option.js';

/** Accepts only a serialized origin, as a browser sends it (RFC 6454 §6.2): a browser matches no other spelling. */
export function checkOrigin(origin: unknown): string {
  const expected = 'an origin such as "https://shop.example", or left out for every origin';
  const got = typeof origin === 'string' && origin.includes('@') ? 'a URL with a user name' : describe(origin);
  const refuse = (advice: string): never => {
    throw new InvalidOptionError('The argument of cors()', expected, got, advice);
  };
  if (typeof origin !== 'string')
    return refuse('Pass one string: a missing environment variable does not mean every origin');
  if (origin === 'null') return refuse('Pass the real origin: every sandboxed page has the origin "null"');
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (!url || url.host === '' || origin.includes('*'))
    return refuse('Pass scheme, host and, unless it is the default, port');
  const serialized = `${url.protocol}//${url.host}`;
  return serialized === origin ? origin : refuse(`Pass exactly ${JSON.stringify(serialized)}, as browsers send it`);
}
