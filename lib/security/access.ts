/** Who gets in. Rules change an access, from the broadest to the narrowest; what is left decides. */
export type Access =
  | { readonly kind: 'public' }
  /** A valid token, with every one of the roles. */
  | { readonly kind: 'authenticated'; readonly roles: readonly string[] }
  | { readonly kind: 'denied' };

export type DefaultAccess = 'authenticated' | 'public' | 'denied';

/** Any valid token has it. */
export const BASE_ROLE = 'USER';

export const PUBLIC: Access = Object.freeze({ kind: 'public' });
export const AUTHENTICATED: Access = Object.freeze({ kind: 'authenticated', roles: [] });
export const DENIED: Access = Object.freeze({ kind: 'denied' });

export const ACCESS_BY_NAME: Readonly<Record<DefaultAccess, Access>> = {
  public: PUBLIC,
  authenticated: AUTHENTICATED,
  denied: DENIED,
};

/** Why a request is refused; `undefined` where it is not. */
export type Refusal = { readonly reason: 'unauthenticated' } | { readonly reason: 'forbidden'; readonly role?: string };

/** Decides on the roles of a valid token, or on `undefined` where there is none. */
export function decide(access: Access, roles: readonly string[] | undefined): Refusal | undefined {
  if (access.kind === 'public') return undefined;
  if (roles === undefined) return { reason: 'unauthenticated' };
  if (access.kind === 'denied') return { reason: 'forbidden' };
  const missing = access.roles.find((role) => role !== BASE_ROLE && !roles.includes(role));
  return missing === undefined ? undefined : { reason: 'forbidden', role: missing };
}
