/** `required`: tokens of such a role, without a second factor, are good for its enrolment only. */
import type { HttpRequest } from 'declarest';
import { AccessRefused, type Authentication, AuthServices } from 'declarest/plugin';
import { LoginSteps } from '../login-steps/login-steps.js';
import { hasGivenFactor } from '../login-steps/given-factor.js';

/** @returns `undefined` where the token is good enough */
export function refuseBeforeEnrolment(
  required: readonly string[],
  { expandRoles, endpointOf, get }: AuthServices,
  request: HttpRequest,
  { principal, login }: Authentication,
): Authentication | undefined {
  if (!principal || hasGivenFactor(login)) return undefined;
  const roles = expandRoles(principal.roles);
  if (!required.some((role) => roles.includes(role))) return undefined;
  if (get(LoginSteps).enrolment.has(endpointOf(request) ?? '')) return undefined;
  return { bearerWasSent: true, failure: new AccessRefused(['second factor']) };
}
