/** Data provider and auth provider of refine for services made with declarest. */
export { authProvider, type AuthProviderOptions, type Identity } from './auth-provider.js';
export { dataProvider, type DataProviderOptions, type DeclarestDataProvider } from './data-provider.js';
export type { ExportParams } from './export-file.js';
export type { Keys, TokenStorage } from 'declarest-client/providers';
