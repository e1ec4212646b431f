/** What the providers of front ends share. */
export type { Client, ClientOptions } from './client.js';
export { compareVersions, type Conflict, type ConflictField } from './conflicts.js';
export { createEtags, strongEtag } from './etags.js';
export {
  dataOf,
  Failure,
  failureBody,
  failureOf,
  fieldsOf,
  isMissingRoute,
  isSuccess,
  isUnknown,
  messagesOf,
  NEEDS_FACTOR,
  openSuccess,
  succeed,
  UNSAVED,
  withErrors,
} from './failure.js';
export { type Fields, isEqual, isObject } from './json.js';
export { joinLists, MAX_RECORDS, textOf } from './lists.js';
export { logInBy, type LoginBody, type LoginStep } from './logins.js';
export { changesOf, deletionsOf, readMany, writeMany } from './many.js';
export { aboutField, readable } from './messages.js';
export { keyNames, type Keys, withKeys } from './keys.js';
export { accountUrlOf, fillPath, parametersOf, recordUrl, resolveUrl } from './paths.js';
export { createPermissions, type Owners, type PermissionOptions } from './permissions.js';
export { createRefusals, type Refusals } from './refusals.js';
export type { Answer, Request } from './requests.js';
export { sharedClient } from './shared-clients.js';
export type { TokenStorage } from './token-store.js';
