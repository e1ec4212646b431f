/** A client with plain `fetch` for servers that are made with declarest. */
export type { ResourceAccess } from './access.js';
export type { RequestOptions } from './client-requests.js';
export { type Client, type ClientOptions, createClient } from './client.js';
export type { ImportResult } from './document-requests.js';
export type { FieldName, OperationName, ResourceName } from './document-types.js';
export { Failure } from './failure.js';
export type { LoginBody, PasskeyConfirmation } from './logins.js';
export type { Answer, Request } from './requests.js';
export type { Claims, TokenStorage } from './token-store.js';
