import type { HttpRequest } from '../http/request-facts.js';
import type { Refusal, Requirement } from './access.js';
import type { Principal } from './principal.js';

/** Calls the policies in turn. The first that does not return `true` refuses. */
export async function checkPolicies(
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
      // A policy that fails gives no access.
    }
    return { reason: 'forbidden', missing: [name], byPolicy: true };
  }
  return undefined;
}
