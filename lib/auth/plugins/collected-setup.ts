/** What all plugins have asked `AuthModule` for. */
import type { TokenKey } from '../tokens/access-tokens.js';
import type { UserRepository } from '../users/user.repository.js';
import type { AuthPlugin } from './plugin.js';

export interface CollectedSetup {
  /** The plugin that needs a mailer. */
  mailing?: AuthPlugin;
  readonly methods: (readonly [AuthPlugin, keyof UserRepository])[];
  readonly fields: string[];
  readonly roles: string[];
  /** The plugin that identifies keys. */
  keys?: AuthPlugin;
  /** The plugins that set the lifetime of access tokens. */
  readonly lifetimes: (readonly [AuthPlugin, number])[];
  readsCookies: boolean;
  readonly tokenKeys: TokenKey[];
}

export function collectSetup(plugins: readonly AuthPlugin[]): CollectedSetup {
  const all: CollectedSetup = { methods: [], fields: [], roles: [], lifetimes: [], readsCookies: false, tokenKeys: [] };
  for (const plugin of plugins)
    plugin.setup?.({
      needMailer: () => void (all.mailing ??= plugin),
      needMethods: (...methods) => void all.methods.push(...methods.map((method) => [plugin, method] as const)),
      needFields: (...fields) => void all.fields.push(...fields),
      nameRoles: (...roles) => void all.roles.push(...roles),
      identifyKeys: () => void (all.keys ??= plugin),
      accessTokenSeconds: (seconds) => void all.lifetimes.push([plugin, seconds]),
      readCookies: () => void (all.readsCookies = true),
      signBy: (keys) => void all.tokenKeys.push(...keys),
    });
  return Object.freeze(all);
}
