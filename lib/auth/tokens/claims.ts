/** The claims of a token, and those that the option `claims` adds. */
import type { LoginClaims, Principal } from '../../http/caller.js';

const REGISTERED = ['iat', 'exp', 'nbf', 'iss', 'aud', 'jti'] as const;
/** Claims with a meaning of their own (RFC 7519 §4.1 and this package), and `id`, which a principal has. */
export const RESERVED_CLAIMS = ['sub', 'email', 'roles', 'sid', ...REGISTERED, 'id', 'amr', 'auth_time'] as const;

/** Names that the option `claims` cannot use. */
export type ReservedClaim = (typeof RESERVED_CLAIMS)[number];

/** What `claims` returns: any names but the reserved ones. */
export type OwnClaims<C extends object> = C & { readonly [K in ReservedClaim]?: never };

/** The claims of a token (RFC 7519), besides those that say how long it is valid. */
export interface TokenClaims extends Pick<Principal, 'email' | 'roles'> {
  readonly sub: string;
  readonly sid?: string;
  readonly login?: LoginClaims | null | undefined;
  readonly own?: Readonly<Record<string, unknown>>;
  readonly issuedAt?: number | undefined;
}

const isReserved = (name: string): boolean => (RESERVED_CLAIMS as readonly string[]).includes(name);

/** The largest JSON text of claims. Servers and proxies accept headers of 8 kB, and base64 makes a third more of them. */
const MAX_BYTES = 4_096;

/** @returns the claims as the token will hold them @throws Error for what is no object of JSON, too large, or reserved */
export function checkOwnClaims(claims: unknown): Readonly<Record<string, unknown>> {
  if (typeof claims !== 'object' || claims === null || Array.isArray(claims) || 'toJSON' in claims)
    return refuse('return an object without `toJSON`');
  const text = toJson(claims);
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_BYTES) return refuse(`return at most ${MAX_BYTES} bytes of JSON, got ${bytes}`);
  const own = JSON.parse(text) as Readonly<Record<string, unknown>>;
  const reserved = Object.keys(own).filter(isReserved);
  if (reserved.length === 0) return own;
  return refuse(`not return the reserved names ${RESERVED_CLAIMS.join(', ')}, got ${reserved.join(', ')}`);
}

function toJson(claims: object): string {
  try {
    return JSON.stringify(claims);
  } catch (cause) {
    return refuse(`return values that JSON can hold, got ${String(cause).split('\n')[0]}`);
  }
}

function refuse(what: string): never {
  throw new Error(`AuthModule option \`claims\` must ${what}.`);
}

/**
 * Checks the types of the claims. The library has checked `exp` and `nbf` against the clock, but accepts their absence.
 * @param hasOwn whether further claims count
 */
export function readClaims(payload: unknown, hasOwn = false): TokenClaims | undefined {
  if (typeof payload !== 'object' || payload === null) return undefined;
  const { sub, email, roles, sid, exp, iat, amr, auth_time, ...others } = payload as Record<string, unknown>;
  if (!Number.isFinite(exp)) return undefined;
  if (typeof sub !== 'string' || sub === '') return undefined;
  if (!Array.isArray(roles) || !roles.every((role) => typeof role === 'string')) return undefined;
  const own = hasOwn ? Object.entries(others).filter(([name]) => !isReserved(name)) : [];
  return {
    sub,
    email: typeof email === 'string' ? email : '',
    roles,
    issuedAt: typeof iat === 'number' ? iat : undefined,
    ...(typeof sid === 'string' && { sid }),
    ...(Array.isArray(amr) && typeof auth_time === 'number' && { login: { amr: amr.map(String), auth_time } }),
    ...(own.length > 0 && { own: Object.fromEntries(own) }),
  };
}
