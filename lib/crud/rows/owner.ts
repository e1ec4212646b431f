/** The option `owner`: the column with the id of the user who created a record, and who alone may change it. */
import type { Field } from '../../entities/entity-schema.js';
import { hasAnyRole, userOf } from '../../http/principal.js';
import { AccessRefused, AuthenticationRequired } from '../../http/refusal.js';
import type { HttpRequest } from '../../http/request-facts.js';
import { compare, NOTHING, type Condition, type WritePrecondition } from '../sql/condition.js';

export interface Ownership {
  readonly field: Field;
  /** Whether others do not see the record either. */
  readonly reads: boolean;
  /** Roles that it does not bind. */
  readonly except: readonly string[];
}

export const isBound = ({ except }: Ownership, request: HttpRequest | undefined): boolean =>
  !hasAnyRole(request, except);

/** The id of the caller as the column holds it; `undefined` for an anonymous caller. */
export function ownIdOf({ field }: Ownership, request: HttpRequest | undefined): unknown {
  const id = userOf(request)?.id;
  if (id === undefined || id === null) return undefined;
  const reading = field.type.readText(String(id));
  return 'value' in reading ? reading.value : undefined;
}

export function isOwn(ownership: Ownership, request: HttpRequest | undefined): Condition {
  const id = ownIdOf(ownership, request);
  return id === undefined ? NOTHING : compare(ownership.field, 'eq', id);
}

/** @param named the owner in the path @throws 401 for an anonymous caller, 403 where the path names another owner */
export function newOwnerOf(ownership: Ownership, request: HttpRequest | undefined, named?: unknown): unknown {
  const id = ownIdOf(ownership, request);
  if (id === undefined) throw new AuthenticationRequired(request?.headers.authorization !== undefined);
  if (named !== undefined && named !== id && isBound(ownership, request)) throw new AccessRefused(['OWNER']);
  return id;
}

export const ownerPrecondition = (ownership: Ownership, request: HttpRequest | undefined): WritePrecondition => ({
  condition: isOwn(ownership, request),
  refuse: () => new AccessRefused(['OWNER']),
});
