/** Data provider and auth provider of react-admin for services made with declarest. */
export { authProvider, type AuthProviderOptions } from './auth-provider.js';
export {
  type CustomInit,
  dataProvider,
  type DataProviderOptions,
  type DeclarestDataProvider,
  type ExportParams,
  type RestoreParams,
} from './data-provider.js';
export type { Meta } from './query.js';
export type { TokenStorage } from './token-store.js';
