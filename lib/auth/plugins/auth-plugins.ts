import { Inject, Injectable } from '@nestjs/common';
import type { Authentication } from '../../access/principal.js';
import type { HttpRequest } from '../../http/request-facts.js';
import type { AuthUser } from '../users/auth-user.js';
import { AUTH_OPTIONS } from '../users/options-token.js';
import type { Endpoint } from './endpoint.js';
import type { AccountChange, AuthPlugin, IssuedParts, LoginChallenge, LoginContext } from './plugin.js';
import { AuthServices } from './services.js';

/** Runs the hooks of the plugins, in the order of the list. */
@Injectable()
export class AuthPlugins {
  private readonly plugins: readonly AuthPlugin[];
  private readonly authenticating: readonly AuthPlugin[];

  constructor(
    @Inject(AUTH_OPTIONS) { plugins }: { readonly plugins: readonly AuthPlugin[] },
    private readonly services: AuthServices,
  ) {
    this.plugins = plugins;
    this.authenticating = plugins.filter((plugin) => plugin.authenticate);
  }

  hasEndpoint(name: string): boolean {
    return endpointsOf(this.plugins).some((endpoint) => endpoint.name === name);
  }

  requireRole(role: string): boolean {
    return this.plugins.some((plugin) => plugin.role === role);
  }

  /** @returns by the name of the plugin, for those that have something to say */
  authenticate(request: HttpRequest, bearer: Authentication): readonly [string, Promise<Authentication>][] {
    return this.authenticating.flatMap((plugin): [string, Promise<Authentication>][] => {
      try {
        const found = plugin.authenticate?.(this.services, request, bearer);
        return found ? [[plugin.name, Promise.resolve(found)]] : [];
      } catch (error) {
        return [[plugin.name, Promise.reject(error as Error)]];
      }
    });
  }

  async beforeLogin(user: AuthUser, context: LoginContext): Promise<LoginChallenge | undefined> {
    for (const plugin of this.plugins) {
      const challenge = await plugin.beforeLogin?.(this.services, user, context);
      if (challenge) return challenge;
    }
    return undefined;
  }

  /** @returns what all of them have issued, to be revoked as one */
  async issue(user: AuthUser, context: LoginContext): Promise<IssuedParts & { revoke(): Promise<void> }> {
    const issued: IssuedParts[] = [];
    const revoke = async (): Promise<void> => {
      for (const each of issued) await each.revoke?.();
    };
    try {
      for (const plugin of this.plugins)
        if (plugin.issue) issued.push(await plugin.issue(this.services, user, context));
    } catch (error) {
      await revoke();
      throw error;
    }
    const session = issued.find((each) => each.session !== undefined)?.session;
    const members = Object.assign({}, ...issued.map((each) => each.members)) as Readonly<Record<string, unknown>>;
    return { members, ...(session !== undefined && { session }), revoke };
  }

  /** @returns how many sessions have ended @throws the first error, when every plugin has run */
  async accountChanged(change: AccountChange): Promise<number> {
    const ended: number[] = [];
    const errors: unknown[] = [];
    for (const plugin of this.plugins)
      try {
        ended.push((await plugin.accountChanged?.(this.services, change)) ?? 0);
      } catch (error) {
        errors.push(error);
      }
    if (errors.length > 0) throw errors[0];
    return ended.reduce((sum, count) => sum + count, 0);
  }
}

/** The endpoints of all plugins, without those that need one that does not exist. */
export function endpointsOf(plugins: readonly AuthPlugin[]): readonly Endpoint[] {
  const endpoints = plugins.flatMap((plugin) => plugin.endpoints ?? []);
  const names = new Set(endpoints.map(({ name }) => name));
  return endpoints.filter(({ needs }) => needs === undefined || names.has(needs));
}
