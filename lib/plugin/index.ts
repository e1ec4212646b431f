/**
 * declarest/plugin: what features of accounts are made of. Sessions, mailed links and declarest-logins stand on it.
 * @see AuthPlugin
 */

// A plugin, its endpoints and hooks
export { accountEndpoint } from '../auth/plugins/plugin.js';
export type { AccountChange, AuthPlugin, Endpoint, EndpointCall, UserProof } from '../auth/plugins/plugin.js';
export type { IssuedParts, LoginChallenge, LoginContext } from '../auth/plugins/plugin.js';
export type { DocumentParts, LoginDocument } from '../auth/plugins/document-parts.js';
export { AuthServices, type WayInKind } from '../auth/plugins/auth-services.js';

// Logins and registrations
export { Logins, type IdentifiedUser, type LoginAnswer, type WayIn } from '../auth/accounts/logins.js';
export { findManagedUser } from '../auth/administration/administration.plugin.js';
export { UserFieldRules } from '../auth/accounts/user-field-rules.js';
export { VerifiedEmails } from '../auth/links/verified-emails.js';
export { hasPassword } from '../auth/passwords/has-password.js';
export { Attempts } from '../auth/throttle/attempts.js';
export type { ActionLimits, Attempt, AttemptLimits } from '../auth/throttle/attempt.js';

// Tables and secrets
export { AccountTables } from '../auth/tables/account-tables.js';
export { OneTimeTokens, type StoredToken } from '../auth/tables/one-time-tokens.js';
export { hashOf, newToken } from '../auth/tables/secret-tokens.js';
export { TIME } from '../database/database-time.js';

// Bodies, answers and refusals
export { checkUser as checkBody, checks, type Check } from '../auth/users/user-checks.js';
export { answers, schemas } from './documents.js';
export type { JsonSchema, NamedSchema } from '../entities/json-schema.js';
export { ServiceUnavailable } from '../http/failure.js';
export { AccessRefused, AuthenticationRequired, StepUpRequired } from '../http/refusal.js';

// Requests
export { Authenticator } from '../access/identity/authenticator.js';
export { authenticationOf, type Authentication, type LoginClaims } from '../http/caller.js';
export { credentialOf } from '../access/identity/credential.js';
export type { CredentialPlace, UserSource } from '../access/identity/user-source.js';
export { OutageLog } from '../database/outage-log.js';

// Options
export { option, readOptions, refuseOption } from './options.js';
export { describe as describeValue } from '../options/invalid-option.js';
export type { OptionRow, OptionsOf } from '../options/option-table.js';
