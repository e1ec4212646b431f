/** Rules that ask for a second factor, also a recent one (step-up authentication, RFC 9470). */
import type { PolicyFunction } from 'declarest';
import { authenticationOf, option, readOptions, StepUpRequired } from 'declarest/plugin';
import { hasGivenFactor } from '../login-steps/given-factor.js';

export interface FactorRuleOptions {
  /** How long ago the factor may have been given, in minutes. @default any time before, in the session of the token */
  maxAgeMinutes?: number;
}

const isPositive = (value: unknown): boolean => typeof value === 'number' && value > 0 && Number.isFinite(value);
const OPTIONS = {
  maxAgeMinutes: option.optional<number>('a positive number of minutes', isPositive, 'set for example 5'),
};

/**
 * A policy for `SecurityConfig.requirePolicy`: the login of the token has given a second factor. It is 401 with
 * `WWW-Authenticate: Bearer error="insufficient_user_authentication"` otherwise. A refresh does not make the factor younger.
 * @throws InvalidOptionError
 * @example this.requirePolicy('second factor', hasFactor({ maxAgeMinutes: 5 }), 'POST /api/payouts/**');
 */
export function hasFactor(options: FactorRuleOptions = {}): PolicyFunction {
  const { maxAgeMinutes = Infinity } = readOptions('hasFactor', OPTIONS, options);
  const maxAgeSeconds = Math.ceil(maxAgeMinutes * 60);
  return (_principal, request) => {
    const login = authenticationOf(request)?.login;
    if (hasGivenFactor(login) && Date.now() / 1000 - login.auth_time <= maxAgeSeconds) return true;
    throw new StepUpRequired('A second factor is required', maxAgeSeconds);
  };
}
