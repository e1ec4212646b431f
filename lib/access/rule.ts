/** A rule as declared. */
import type { HttpRequest } from '../http/request-facts.js';
import type { Pattern } from './pattern.js';
import type { Principal } from '../http/principal.js';

/** Decides on a request. Only the boolean `true` gives access; an exception refuses it. */
export type PolicyFunction = (principal: Principal, request: HttpRequest) => boolean | Promise<boolean>;

export interface Policy {
  /** For the refusal and the access report: `owner` → `{error: "Owner access required"}`. */
  readonly name: string;
  readonly allows: PolicyFunction;
}

export type Effect =
  | { readonly kind: 'public' }
  | { readonly kind: 'authenticated' }
  | { readonly kind: 'roles'; readonly anyOf: readonly string[] }
  | { readonly kind: 'policy'; readonly policy: Policy }
  | { readonly kind: 'denied' };

export interface Rule {
  readonly pattern: Pattern;
  readonly effect: Effect;
  /** The declared effect, where `enforcedRoles` reduces it. */
  readonly written?: Effect;
  /** Where it is declared: `ShopSecurity.requireRole`, `@Roles on OrdersController.list`. */
  readonly declaredBy: string;
}

export const restricts = (rule: Rule): boolean => rule.effect.kind !== 'public';
