/** Data provider and auth provider of react-admin for servers that are made with declarest. */
export {
  authProvider,
  type AuthProviderOptions,
  type ChallengeError,
  type DeclarestAuthProvider,
  type LoginParams,
} from './auth-provider.js';
export {
  type CustomInit,
  dataProvider,
  type DataProviderOptions,
  type DeclarestDataProvider,
  type ExportParams,
  type FileParams,
  type ReadFileParams,
  type RestoreParams,
  type WriteFileParams,
} from './data-provider.js';
export { usePermittedFields } from './permitted-fields.js';
export type { Meta } from './query.js';
export type {
  Conflict,
  ConflictField,
  Keys,
  Owners,
  PermissionOptions,
  TokenStorage,
} from 'declarest-client/providers';
