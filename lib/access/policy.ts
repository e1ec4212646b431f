import type { HttpRequest } from '../http/request-facts.js';
import type { Refusal, Requirement } from './access.js';
import type { Principal } from './principal.js';

/** What a policy may look at. Only the boolean `true` lets a request in; a throw refuses it. */
export type PolicyFunction = (principal: Principal, request: HttpRequest) => boolean | Promise<boolean>;

export interface Policy {
  /** For the refusal and the access report: `owner` → `{error: "Owner access required"}`. */
  readonly name: string;
  readonly allows: PolicyFunction;
}

/** Asks the policies in turn; the first that does not answer `true` refuses. */
export async function askPolicies(
  requirements: readonly Requirement[],
  principal: Principal,
  request: HttpRequest,
): Promise<Refusal | undefined> {
  for (const requirement of requirements) {
    if (!('policy' in requirement)) continue;
    const { name, allows } = requirement.policy;
    try {
      if ((await allows(principal, request)) === true) continue;
    } catch {
      // A policy that cannot tell does not let in.
    }
    return { reason: 'forbidden', missing: [name], byPolicy: true };
  }
  return undefined;
}
