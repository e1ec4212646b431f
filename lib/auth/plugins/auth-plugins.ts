/** The hooks of all plugins, as the core calls them. */
import { Inject, Injectable } from '@nestjs/common';
import { guardedLookup, type CredentialReader } from '../../access/identity/authenticator.js';
import { authenticationOf } from '../../http/caller.js';
import type { HttpRequest } from '../../http/http-request.js';
import { AuthenticationRequired } from '../../http/refusal.js';
import type { AuthUser } from '../users/auth-user.js';
import { AUTH_OPTIONS } from '../users/options-token.js';
import { setHeaders } from '../../response-headers/account-headers.js';
import { AuthServices } from './auth-services.js';
import type { CollectedSetup } from './collected-setup.js';
import type { AccountChange, AuthPlugin, Endpoint, IssuedParts, LoginChallenge, LoginContext } from './plugin.js';

interface Issued {
  readonly session: IssuedParts['session'];
  /** Sets the headers. @returns the members of the answer */
  send(): Readonly<Record<string, unknown>>;
}

@Injectable()
export class AuthPlugins {
  /** The plugins whose hook runs for each request, that of keys first. */
  readonly readers: readonly CredentialReader[];
  private readonly plugins: readonly AuthPlugin[];
  /** Plugins that keep sessions come first: what ends sessions during a login finds that of the login, or is seen by the others. */
  private readonly issuing: readonly AuthPlugin[];

  constructor(
    @Inject(AUTH_OPTIONS)
    { plugins, setup: { keys } }: { readonly plugins: readonly AuthPlugin[]; readonly setup: CollectedSetup },
    private readonly services: AuthServices,
  ) {
    this.plugins = plugins;
    const keysFirst = new Set([...(keys ? [keys] : []), ...plugins]);
    this.readers = [...keysFirst].filter(({ authenticate }) => authenticate).map((each) => this.readerOf(each, keys));
    this.issuing = plugins.toSorted((a, b) => Number(!a.hasSession) - Number(!b.hasSession));
  }

  private readerOf(plugin: AuthPlugin, keys: AuthPlugin | undefined): CredentialReader {
    const { services } = this;
    const ownsTokens = plugin === keys;
    const what = `The credential that the plugin ${plugin.name} reads`;
    return {
      ownsTokens,
      read(request, known) {
        const parts = { isKey: ownsTokens && known.token !== undefined, isComplete: false };
        try {
          const found = plugin.authenticate?.(services, request, known);
          return found && guardedLookup(what, async () => ({ ...(await found), ...parts }));
        } catch (error) {
          return guardedLookup(what, () => Promise.reject(error as Error));
        }
      },
    };
  }

  /** A token that belongs to no session, such as one of another issuer, ends by itself. @throws 401 where it has ended */
  async expectSession(request: HttpRequest): Promise<void> {
    const { session } = authenticationOf(request) ?? {};
    if (session === undefined) return;
    for (const plugin of this.plugins)
      if ((await plugin.hasSession?.(this.services, session)) === false) throw new AuthenticationRequired(true);
  }

  /** Whether the login of a token is not older. A token of another issuer does not say it. */
  async isRecent(request: HttpRequest, maxAgeSeconds: number): Promise<boolean> {
    const { session, issuedAt } = authenticationOf(request) ?? {};
    if (session === undefined) return issuedAt !== undefined && Date.now() / 1000 - issuedAt <= maxAgeSeconds;
    for (const plugin of this.plugins)
      if (await plugin.hasSession?.(this.services, session, maxAgeSeconds)) return true;
    return false;
  }

  async beforeLogin(user: AuthUser, context: LoginContext): Promise<LoginChallenge | undefined> {
    for (const plugin of this.plugins) {
      const challenge = await plugin.beforeLogin?.(this.services, user, context);
      if (challenge) return challenge;
    }
    return undefined;
  }

  /** What the plugins issue is revoked where one of them fails, or the answer does. */
  async issue<T>(user: AuthUser, context: LoginContext, answer: (issued: Issued) => T | Promise<T>): Promise<T> {
    const issued: IssuedParts[] = [];
    try {
      for (const plugin of this.issuing) {
        const part = (await plugin.issue?.(this.services, user, context)) ?? {};
        issued.push(part);
        if (part.members && ('user' in part.members || 'token' in part.members))
          throw new Error(`The plugin ${plugin.name} must not issue the members user and token.`);
      }
      const session = issued.find((each) => each.session !== undefined)?.session;
      const members = Object.assign({}, ...issued.map((each) => each.members)) as Readonly<Record<string, unknown>>;
      const send = (): typeof members => {
        for (const { headers = {} } of issued) setHeaders(context.request, headers);
        return members;
      };
      return await answer({ send, session });
    } catch (error) {
      for (const each of issued) await each.revoke?.();
      throw error;
    }
  }

  /**
   * Emits the event of the change also where a hook fails, because the change is stored.
   * @returns how many sessions have ended @throws the first error, when every plugin has run
   */
  async accountChanged(change: AccountChange): Promise<number> {
    let ended = 0;
    const errors: unknown[] = [];
    for (const plugin of this.plugins)
      try {
        ended += (await plugin.accountChanged?.(this.services, change)) ?? 0;
      } catch (error) {
        errors.push(error);
      }
    const { name, userId } = change;
    if (name === 'user.changed') this.services.events.emit(name, { userId, fields: Object.keys(change.fields) });
    else if (name !== 'user.created' && name !== 'user.loggedOut') this.services.events.emit(name, { userId });
    if (errors.length > 0) throw errors[0];
    return ended;
  }
}

/** The endpoints of all plugins, without those that need one that does not exist. */
export function endpointsOf(plugins: readonly AuthPlugin[]): readonly Endpoint[] {
  const endpoints = plugins.flatMap((plugin) => plugin.endpoints ?? []);
  const names = new Set(endpoints.map(({ name }) => name));
  return endpoints.filter(({ needs }) => needs === undefined || names.has(needs));
}
