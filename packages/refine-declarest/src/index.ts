/** Data provider and auth provider of refine for services made with declarest. */
export { accessControlProvider, type AccessControlOptions } from './access-control-provider.js';
export { authProvider, type AuthProviderOptions, type Identity, type LoginParams } from './auth-provider.js';
export {
  dataProvider,
  type DataProviderOptions,
  type DeclarestDataProvider,
  type ConflictParams,
} from './data-provider.js';
export type { ExportParams } from './export-file.js';
export type {
  Conflict,
  ConflictField,
  Keys,
  Owners,
  PermissionOptions,
  TokenStorage,
} from 'declarest-client/providers';
