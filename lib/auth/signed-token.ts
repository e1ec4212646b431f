import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto';

/** The compact form (RFC 7515 §7.1) in base64url without padding; the 32 bytes of HMAC-SHA-256 are 43 letters. */
const COMPACT = /^([\w-]+)\.([\w-]+)\.([\w-]{43})$/;

/**
 * What a token holds that was signed with this key by HS256; `undefined` for any other. The algorithm is pinned, not read
 * (RFC 8725 §3.1), and nothing is parsed before the signature is right.
 */
export function signedPayload(token: string, key: KeyObject): unknown {
  const parts = COMPACT.exec(token);
  if (!parts) return undefined;
  const [, header, payload, signature] = parts as unknown as [string, string, string, string];
  // Compared as text: the last letter has two spare bits, and with others in them it is another token.
  const expected = createHmac('sha256', key).update(`${header}.${payload}`).digest('base64url');
  if (!timingSafeEqual(Buffer.from(expected), Buffer.from(signature))) return undefined;
  try {
    return isHs256(header) ? parse(payload) : undefined;
  } catch {
    return undefined;
  }
}

/** The last good one: whoever signs tokens writes the same into each. */
let accepted = '';

function isHs256(header: string): boolean {
  if (header === accepted) return true;
  const { alg, crit } = parse(header) as Record<string, unknown>;
  // RFC 7515 §4.1.11: an extension that is not understood makes the token invalid.
  if (alg !== 'HS256' || crit !== undefined) return false;
  accepted = header;
  return true;
}

const parse = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString());
