/** declarest: declarations in, a REST service out. The only public entry. */

export { InvalidOptionError } from './options/invalid-option.js';

// Users and tokens
export { AuthModule } from './auth/auth.module.js';
export type { AuthAsyncOptions } from './auth/auth.module.js';
export { LoginMethod } from './auth/auth.options.js';
export type { AuthOptions, AuthSettings, AuthStaticOptions } from './auth/auth.options.js';
export { AuthUser } from './auth/auth-user.js';
export { DuplicateUserError, UserRepository } from './auth/user.repository.js';
export type { LoginField, UserFields } from './auth/user.repository.js';
export { UserAccounts } from './auth/user-accounts.js';
export type { NewUser } from './auth/user-accounts.js';
export { InvalidUserError } from './auth/user-checks.js';

// Rules
export { SecurityConfig } from './access/security-config.js';
export { SecurityRulesGuard } from './access/security-rules.guard.js';
export { CurrentUser } from './access/current-user.js';
export type { Principal } from './access/principal.js';
export type { DefaultAccess } from './access/access.js';
export { Authenticated, Public, Roles } from './access/access-decorators.js';
export { AccessReport } from './access/access-report.js';
export type { AccessRow } from './access/access-rows.js';
export type { PolicyFunction } from './access/rule.js';
export type { HttpRequest } from './http/request-facts.js';
export type { RoleHierarchy } from './access/role-hierarchy.js';

// Generated operations
export { CrudModule } from './crud/crud.module.js';
export type { CrudResource } from './crud/crud.module.js';
export { CrudController } from './crud/crud-controller.js';
export type { GeneratedController, GeneratedControllerClass } from './crud/crud-controller.js';
export type { CrudOptions } from './crud/crud-options.js';
export { CrudOverride, overrideDescription } from './crud/crud-override.js';
export type { Envelope, FailureEnvelope, ListMetadata } from './crud/envelope.js';
export type { CrudData, CrudRecord, FieldName } from './crud/record-types.js';
export type { ListQuery } from './crud/query/list-query.js';
export type { FieldError } from './http/failure.js';
export type { JsonObject } from './http/json-body.js';

// CORS
export { cors } from './cors/cors.middleware.js';
export { routesOf } from './cors/routes-of.js';
