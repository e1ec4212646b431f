/** The option `owner`: the column that says whose record it is, by the id or another claim of the user who created it. */
import type { Field } from '../../entities/entity-schema.js';
import { hasAnyRole, userOf } from '../../http/caller.js';
import { AccessRefused, AuthenticationRequired } from '../../http/refusal.js';
import type { HttpRequest } from '../../http/http-request.js';
import { compare, NOTHING, type Condition } from '../sql/condition.js';

export interface Ownership {
  readonly field: Field;
  readonly claim: string;
  readonly reads: boolean;
  readonly except: readonly string[];
}

export const isBound = ({ except }: Ownership, request: HttpRequest | undefined): boolean =>
  !hasAnyRole(request, except);

/** The claim of the caller as the column holds it; `undefined` for an anonymous caller, and for one without the claim. */
export function ownIdOf({ field, claim }: Ownership, request: HttpRequest | undefined): unknown {
  const id = (userOf(request) as Readonly<Record<string, unknown>> | undefined)?.[claim];
  if (typeof id !== 'string' && typeof id !== 'number') return undefined;
  const reading = field.type.readText(String(id));
  return 'value' in reading ? reading.value : undefined;
}

export function isOwn(ownership: Ownership, request: HttpRequest | undefined): Condition {
  const id = ownIdOf(ownership, request);
  return id === undefined ? NOTHING : compare(ownership.field, 'eq', id);
}

/**
 * @param named the owner in the path
 * @returns `undefined` for a caller without the claim, whom the option does not bind
 * @throws 401 for an anonymous caller, 403 where the path names another owner, and without the claim
 */
export function newOwnerOf(ownership: Ownership, request: HttpRequest | undefined, named?: unknown): unknown {
  const id = ownIdOf(ownership, request);
  if (id === undefined) {
    // A user without the claim is known, and owns nothing.
    if (userOf(request) && isBound(ownership, request)) throw new AccessRefused(['OWNER']);
    if (userOf(request)) return undefined;
    throw new AuthenticationRequired(request?.headers.authorization !== undefined);
  }
  if (named !== undefined && named !== id && isBound(ownership, request)) throw new AccessRefused(['OWNER']);
  return id;
}
