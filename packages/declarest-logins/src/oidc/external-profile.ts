/** What a provider says about a user. */
import { type Check, checks } from 'declarest/plugin';
import type { ExternalProfile, ProviderSettings } from './oidc-options.js';

/** OpenID Connect Core §2: at most 255 characters of ASCII. */
const SUBJECT = /^[ -~]{1,255}$/;

const read = (check: Check, value: unknown): string | undefined => {
  const result = check(value);
  return 'value' in result ? (result.value as string) : undefined;
};

/** @param claims checked by the caller @returns `undefined` where the subject is none that a provider may send */
export function profileOf(
  { name: provider, verifiedClaim }: Pick<ProviderSettings, 'name' | 'verifiedClaim'>,
  issuer: string,
  claims: ExternalProfile['claims'] & { readonly sub: string },
): ExternalProfile | undefined {
  const { sub: subject, email } = claims;
  if (!SUBJECT.test(subject)) return undefined;
  const isVerified = claims[verifiedClaim] === true;
  return { provider, issuer, subject, email: isVerified ? read(checks.email, email) : undefined, claims };
}

/** The names of a new user, without those that no user can have. */
export function namesOf({ claims }: ExternalProfile): Readonly<Record<string, string>> {
  const firstName = read(checks.firstName, claims['given_name']);
  const lastName = read(checks.lastName, claims['family_name']);
  return { ...(firstName !== undefined && { firstName }), ...(lastName !== undefined && { lastName }) };
}
