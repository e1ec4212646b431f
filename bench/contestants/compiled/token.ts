/** Verifies HS256 tokens with a KeyObject that is created once. */
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { SECRET } from '../settings.js';

export interface Claims {
  readonly sub: string;
  readonly roles: readonly string[];
  readonly exp: number;
}

const key = createSecretKey(Buffer.from(SECRET));

export function verifiedClaims(authorization: string | undefined): Claims | undefined {
  if (!authorization?.startsWith('Bearer ')) return undefined;
  const token = authorization.slice(7);
  const afterHeader = token.indexOf('.');
  const afterClaims = token.lastIndexOf('.');
  if (afterHeader < 1 || afterClaims <= afterHeader || !isHs256(token.slice(0, afterHeader))) return undefined;
  const expected = createHmac('sha256', key).update(token.slice(0, afterClaims)).digest();
  const given = Buffer.from(token.slice(afterClaims + 1), 'base64url');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  const claims = JSON.parse(Buffer.from(token.slice(afterHeader + 1, afterClaims), 'base64url').toString()) as Claims;
  return claims.exp > Date.now() / 1000 ? claims : undefined;
}

const known = new Map<string, boolean>();

/** Issued tokens share one header, so the first few are remembered. */
function isHs256(header: string): boolean {
  const remembered = known.get(header);
  if (remembered !== undefined) return remembered;
  const { alg } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { alg: string };
  if (known.size < 10) known.set(header, alg === 'HS256');
  return alg === 'HS256';
}
