/** Who gets in: the rules are looked up by the levels of the path. */
import { rules } from '../rules.js';
import { verifiedClaims } from './token.js';

interface Refusal {
  readonly status: number;
  readonly text: string;
  readonly headers?: Record<string, string>;
}

const UNAUTHENTICATED: Refusal = {
  status: 401,
  text: '{"error":"Authentication required"}',
  headers: { 'www-authenticate': 'Bearer' },
};
const FORBIDDEN: Refusal = { status: 403, text: '{"error":"Admin access required"}' };

const roles = new Map(rules.map(({ pattern, role }) => [pattern.slice(0, -3), role]));

export function refusalOf(url: string, authorization: string | undefined): Refusal | undefined {
  const claims = verifiedClaims(authorization);
  if (!claims) return UNAUTHENTICATED;
  for (let end = url.indexOf('/', 1); end !== -1; end = url.indexOf('/', end + 1)) {
    const role = roles.get(url.slice(0, end));
    if (role && !claims.roles.includes(role)) return FORBIDDEN;
  }
  return undefined;
}
