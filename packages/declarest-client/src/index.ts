/** A client with plain `fetch` for servers that are made with declarest, and what the providers of front ends share. */
export { type Client, type ClientOptions, createClient, type LoginBody, type RequestOptions } from './client.js';
export { createEtags, type Etags, strongEtag } from './etags.js';
export {
  Failure,
  failureBody,
  failureOf,
  fieldsOf,
  isMissingRoute,
  isSuccess,
  isTokenRefused,
  isUnknown,
  messagesOf,
  succeed,
  withErrors,
} from './failure.js';
export { type Fields, isEqual, isObject } from './json.js';
export { keyNames, type Keys, withKeys } from './keys.js';
export { fillPath, joinList, parametersOf, recordUrl, resolveUrl, textOf } from './paths.js';
export { createRefusals, type Refusals } from './refusals.js';
export type { Answer, Request, Sender } from './requests.js';
export { sharedClient } from './shared-clients.js';
export type { Claims, TokenStorage } from './token-store.js';
