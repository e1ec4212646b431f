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
export type { Principal } from './http/principal.js';
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
export { CrudController } from './crud/nest/crud-controller.js';
export type { GeneratedController, GeneratedControllerClass } from './crud/declare/generated-controller.js';
export type { CrudOptions, OwnerOptions } from './crud/declare/crud-options.js';
export type { RelationThrough } from './crud/declare/list-options.js';
export type { GeneratedHooks, HookContext, HookValues } from './crud/declare/generated-hooks.js';
export type { FieldPermission } from './crud/declare/crud-options.js';
export { IdempotencyKey } from './crud/idempotency/idempotency-key.js';
export { useScope } from './crud/declare/scope.js';
export type { Scope, ScopeContext, ScopeFunction, ScopeProvider, ScopeResult } from './crud/declare/scope.js';
export type { OperationName } from './crud/declare/operations.js';
export type { BatchResult } from './crud/declare/envelope.js';
export { CrudOverride, overrideDescription } from './crud/declare/crud-override.js';
export type { Envelope, FailureEnvelope, ListMetadata, Pagination } from './crud/declare/envelope.js';
export type {
  AggregateRow,
  CrudData,
  CrudRecord,
  FieldName,
  FilterableName,
  ManyRelationName,
  RelationPath,
} from './crud/declare/record-types.js';
export type { ListQuery } from './crud/declare/envelope.js';
export type { RecordSchemas, SchemaIssue, SchemaResult, StandardSchema } from './crud/declare/standard-schema.js';
export type { FieldError } from './http/failure.js';
export type { JsonObject } from './http/json-body.js';

// CORS
export { cors } from './cors/cors.middleware.js';
export { routesOf } from './cors/routes-of.js';
