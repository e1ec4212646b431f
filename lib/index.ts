/** declarest: declarations in, a REST service out. The only public entry. */

export { InvalidOptionError } from './options/invalid-option.js';

// Users and tokens
export { AuthModule, type AuthAsyncOptions } from './auth/auth.module.js';
export { LoginMethod, type AuthOptions, type AuthSettings, type JwtKey } from './auth/options/auth.options.js';
export { AuthUser, type NewUser } from './auth/users/auth-user.js';
export { DuplicateUserError } from './auth/users/duplicate-user.js';
export { UserRepository } from './auth/users/user.repository.js';
export type { ExpectedFields, LoginField, UserFields, UserList, UserQuery } from './auth/users/user.repository.js';
export { AuthEvents, type AuthEvent, type AuthEventMap, type AuthEventName } from './access/auth-events.js';
export { AuthSession } from './auth/sessions/auth-session.js';
export type { SessionOptions } from './auth/options/session-options.js';
export type { PasswordHasher } from './auth/passwords/password-hasher.js';
export type { PasswordPolicyOptions } from './auth/passwords/password-policy.js';
export { VerifiedEmail } from './auth/links/verified-emails.js';
export { OneTimeToken } from './auth/tables/one-time-tokens.js';
export type { AccountMail, Mailer, MailerProvider } from './auth/options/mailer.js';
export { ThrottleCount } from './auth/throttle/throttle-storages.js';
export type { ThrottleOptions, ThrottleStorage } from './auth/throttle/throttle-options.js';
export type { OwnClaims } from './auth/tokens/claims.js';
export { UserAccounts } from './auth/accounts/user-accounts.js';
export { InvalidUserError } from './auth/users/user-checks.js';

// Plugins of accounts
export { sessions } from './auth/sessions/sessions.plugin.js';
export { mailedLinks, type MailedLinksOptions } from './auth/links/mailed-links.plugin.js';
export { administration } from './auth/administration/administration.plugin.js';
export { accessEndpoint } from './reach/access-endpoint.js';
export { describeForCallers } from './reach/describe-for-callers.js';
export type { CallerDocument, CallerOperation } from './reach/describe-for-callers.js';

// Users of any origin
export { AccessModule, type AccessModuleOptions } from './access/access.module.js';
export { externalTokens, type ExternalTokensOptions } from './auth/plugins/external-tokens.js';
export { fromRequest, type FromRequestOptions } from './access/identity/from-request.js';
export type { Authenticate, AuthenticateOption, ExternalUser } from './access/identity/user-source.js';

// Rules
export { SecurityConfig } from './access/security-config.js';
export { SecurityRulesGuard } from './access/security-rules.guard.js';
export { CurrentUser } from './access/identity/handled-request.js';
export type { Principal } from './http/caller.js';
export type { DefaultAccess, PolicyFunction } from './access/decide.js';
export { Authenticated, Public, Roles } from './access/access-decorators.js';
export { AccessReport } from './access/access-rules.js';
export type { AccessRow } from './access/access-rows.js';
export type { HttpRequest } from './http/http-request.js';
export type { RoleHierarchy } from './access/role-hierarchy.js';

// Generated operations
export { CrudModule, type CrudResource } from './crud/crud.module.js';
export type { CrudModuleOptions } from './crud/declare/filter-operators.js';
export type { FilterOperator } from './crud/sql/operators.js';
export { CrudController } from './crud/nest/crud-controller.js';
export type { GeneratedController, GeneratedControllerClass } from './crud/declare/generated-controller.js';
export type { CrudOptions, FieldPermission, OwnerOptions } from './crud/declare/crud-options.js';
export type { GeneratedHooks, HookContext, HookValues, IdOf } from './crud/declare/generated-hooks.js';
export { IdempotencyKey } from './crud/idempotency/idempotency-keys.js';
export { runAs, type ActingUser } from './crud/nest/run-as.js';
export { joinTransaction } from './database/transactions.js';
export { useScope } from './crud/declare/scope.js';
export type { RowScope, ScopeContext } from './crud/declare/scope.js';
export type { OperationName, StandardOperation } from './crud/declare/operations.js';
export type { CustomOperation, OperationContext } from './crud/declare/custom-operation.js';
export type { OperationInput, RecordSelection } from './crud/declare/custom-operation.js';
export { standardOperations } from './crud/operations/standard-operations.js';
export { OverrideNote } from './crud/declare/declared-options.js';
export type { BatchResult, Envelope } from './crud/declare/envelope.js';
export type { ListQuery } from './crud/declare/envelope.js';
export type { AggregateRow, CrudData, CrudRecord, FieldName } from './crud/declare/record-types.js';
export type { RecordSchemas, StandardSchema } from './crud/declare/standard-schema.js';
export { ErrorObserver, FailureMessages } from './routes/failure-filter.js';
export type { FieldError } from './http/failure.js';
export type { FailureContext } from './http/translation.js';
export type { JsonObject } from './http/json-body.js';

// CORS
export { cors } from './cors/cors.middleware.js';
export { routesOf } from './cors/routes-of.js';
