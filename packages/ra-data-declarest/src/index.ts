/** Data provider and auth provider of react-admin for services made with declarest. */
export { authProvider, type AuthProviderOptions } from './auth-provider.js';
export { dataProvider, type DeclarestDataProvider, type ExportParams, type ProviderOptions } from './data-provider.js';
export type { TokenStorage } from './token-store.js';
