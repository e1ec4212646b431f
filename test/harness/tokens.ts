import { createHmac } from 'node:crypto';
import type { TestUser } from 'declarest/testing';

export const TEST_SECRET = 'a-test-secret-of-more-than-32-bytes-0123456789';

export interface TokenParts {
  /** Replaces the header; a string is encoded as it is. */
  header?: unknown;
  /** Replaces the claims; a string is encoded as it is, so that a payload need not be JSON. */
  payload?: unknown;
  secret?: string;
  /** The algorithm in the header, and the HMAC to sign with. Any other algorithm leaves the signature empty. */
  alg?: string;
  /** Replaces the signature, as text of the third part. */
  signature?: string;
}

/** The claims of a token that is valid for an hour, with some changed: `claims({ roles: ['ADMIN'] })`. `undefined` removes one. */
export function claims(changed: Record<string, unknown> = {}): Record<string, unknown> {
  const iat = Math.floor(Date.now() / 1000);
  return { sub: '1', email: 'ann@example.com', roles: ['USER'], iat, exp: iat + 3600, ...changed };
}

/** Makes any token, also one that a library refuses to make. Without arguments it is valid. */
export function makeToken(parts: TokenParts = {}): string {
  const { alg = 'HS256', secret = TEST_SECRET } = parts;
  const header = 'header' in parts ? parts.header : { alg, typ: 'JWT' };
  const payload = 'payload' in parts ? parts.payload : claims();
  const signed = `${encoded(header)}.${encoded(payload)}`;
  return `${signed}.${parts.signature ?? signature(signed, alg, secret)}`;
}

/** The header with a valid token of a user, who need not exist. */
export const authorizationOf = ({ roles, email = '', sub = 1, claims: own }: TestUser) => ({
  authorization: `Bearer ${makeToken({ payload: claims({ sub: String(sub), email, roles, ...own }) })}`,
});

function signature(signed: string, alg: string, secret: string): string {
  const bits = /^HS(256|384|512)$/.exec(alg)?.[1];
  return bits === undefined ? '' : createHmac(`sha${bits}`, secret).update(signed).digest('base64url');
}

function encoded(part: unknown): string {
  return Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url');
}
