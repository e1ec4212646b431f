/** What plugins ask of `AuthModule` before the application starts. */
import type { UserRepository } from '../users/user.repository.js';
import type { TokenKey } from '../tokens/access-tokens.js';

/** @example setup: (core) => core.needMethods('remove') */
export interface PluginSetup {
  /** Production refuses to start without the options `mailer` and `accountLinks`. */
  needMailer(): void;
  /** A `repositoryClass` must implement these methods. */
  needMethods(...methods: (keyof UserRepository)[]): void;
  /** Clients must send these fields of `AuthUser` to register. */
  needFields(...fields: string[]): void;
  /** Options of the plugin name these roles. */
  nameRoles(...roles: string[]): void;
  /** `authenticate` identifies keys: bearer tokens whose users have the role `KEY`. All others have `LOGIN` then. */
  identifyKeys(): void;
  /** The lifetime of access tokens, in place of `jwtExpirationHours`. At most one plugin sets it. */
  accessTokenSeconds(seconds: number): void;
  /** Endpoints read cookies: `cors()` with an origin then allows credentials for account endpoints. */
  readCookies(): void;
  /** @internal Keys that sign access tokens in place of `jwtSecret`. The first one signs. */
  signBy(keys: readonly TokenKey[]): void;
}
