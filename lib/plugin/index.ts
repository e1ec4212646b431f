/** declarest/plugin: what plugins of accounts are made of. */
export { AccessRules } from '../access/access-rules.js';
export { type Authentication, authenticationOf, bearerOf, Authenticator } from '../access/principal.js';
export { governedMethod } from '../access/route-access.js';
export { type LoginAnswer, Logins, type IdentifiedUser } from '../auth/accounts/logins.js';
export { UserFieldRules } from '../auth/accounts/user-field-rules.js';
export { MailedTokens } from '../auth/links/mailed-tokens.js';
export { type ResolvedAuthOptions } from '../auth/options/resolve-options.js';
export { NO_PASSWORD } from '../auth/passwords/password-hasher.js';
export { AuthPlugins } from '../auth/plugins/auth-plugins.js';
export { AuthServices } from '../auth/plugins/auth-services.js';
export {
  BOOLEAN,
  type DocumentParts,
  EMAIL,
  LIMITED,
  type LoginDocument,
  MESSAGE,
  NAMES,
  PROFILE,
  TEXT_OR_NULL,
  TOKEN,
  dataAnswer,
  unauthorizedOr,
  unknown,
} from '../auth/plugins/document-parts.js';
export {
  type AccountChange,
  type AuthPlugin,
  type Endpoint,
  type EndpointCall,
  type LoginChallenge,
  type LoginContext,
  accountEndpoint,
  type UserProof,
  type IssuedParts,
} from '../auth/plugins/plugin.js';
export { SessionStore } from '../auth/sessions/session-store.js';
export { limitByAddress, type ActionLimits, type Attempt, type AttemptLimits } from '../auth/throttle/attempt.js';
export { Attempts } from '../auth/throttle/attempts.js';
export { hashOf, isToken, newToken } from '../auth/tokens/secret-tokens.js';
export { AccountTables } from '../auth/users/account-tables.js';
export { AUTH_OPTIONS } from '../auth/users/options-token.js';
export { type Check, USER_CHECKS, USER_SCHEMAS, acceptAny, checkUser, readTexts } from '../auth/users/user-checks.js';
export { TIME } from '../database/database-time.js';
export { OutageLog } from '../database/outage-log.js';
export { TRUE, authFailure } from '../documents/failures.js';
export {
  type NamedSchema,
  TEXT,
  closedObject,
  jsonResponse,
  openObject,
  refTo,
} from '../documents/operation-document.js';
export { dateTime } from '../entities/calendar-types.js';
export { type ColumnMetadata } from '../entities/column-types.js';
export { databaseFailureOf } from '../entities/database-errors.js';
export { isSqlite } from '../entities/database-family.js';
export { type JsonSchema, orNull } from '../entities/json-schema.js';
export { cookieOf, isFromOwnPage } from '../http/cookies.js';
export { ServiceUnavailable, causeOf } from '../http/failure.js';
export { headerValues, pathOf } from '../http/http-request.js';
export { parseJson } from '../http/json-body.js';
export { BASE_ROLE, CREDENTIAL_ROLES, CallerRoles } from '../http/principal.js';
export { AccessRefused, AuthenticationRequired, StepUpRequired } from '../http/refusal.js';
export { areNames, describe, expectKnownNames, isProduction } from '../options/invalid-option.js';
export {
  type Accepts,
  type OptionsOf,
  type Refuse,
  flag,
  integer,
  isFunction,
  isObject,
  isObjectOf,
  isOneOf,
  namesOf,
  optional,
  readNestedOptions,
  readOptions,
  refuseAuthOption,
  refuserOf,
  row,
} from '../options/option-table.js';
export { Application } from '../routes/application.js';
export { declaredRoute } from '../routes/declared-route.js';
