/** Runs generated operations outside of a request as a user. */
import type { Principal } from '../../http/caller.js';
import type { HttpRequest } from '../../http/http-request.js';
import { runWithin } from '../store/call.js';

/** What `@CurrentUser()` gives, or an object of the same members. */
export type ActingUser = Pick<Principal, 'id'> & Partial<Principal>;

export interface RunAsOptions {
  /** The values of the parameters in `endpoint`: as text, or in the types of their columns. */
  readonly path?: Readonly<Record<string, unknown>>;
}

/**
 * Runs code of a job, an event handler or a test. The generated operations that it calls are those of the user: the
 * options `scope`, `owner` and `fieldPermissions` apply. Within a hook, they belong to its transaction.
 * @param user `undefined` for an anonymous caller; without `roles` the user has none
 * @returns what `work` returns
 * @example
 * await runAs({ id: 7, roles: ['USER'] }, () => this.articles.create({ title: 'Imported' }));
 * await runAs({ id: 7 }, () => this.products.findAll({}), { path: { shopId: 3 } });
 */
export function runAs<R, U extends ActingUser>(
  user: U | undefined,
  work: () => R,
  { path = {} }: RunAsOptions = {},
): R {
  const request = { method: '', headers: {}, params: path, user: user && { email: '', roles: [], ...user } };
  return runWithin({ state: undefined, request: request as HttpRequest }, work);
}
