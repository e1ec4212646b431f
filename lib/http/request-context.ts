/** What the code of a request finds, however deep it is called: the request. Other folders add what they need. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { HttpRequest } from './http-request.js';

export interface RequestContext {
  /** `undefined` outside of a request. */
  readonly request: HttpRequest | undefined;
}

export const contexts = new AsyncLocalStorage<RequestContext>();
