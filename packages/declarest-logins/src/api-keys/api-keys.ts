/** The life of API keys, with which programs act for a user. Each request reads its key, and the user of the key. */
import { randomBytes } from 'node:crypto';
import { ConflictException, Inject, Injectable, Optional } from '@nestjs/common';
import type { AuthUser, JsonObject } from 'declarest';
import {
  AccessRules,
  type AccountChange,
  AUTH_OPTIONS,
  type Authentication,
  AuthenticationRequired,
  AuthServices,
  BASE_ROLE,
  type Check,
  checkUser,
  CREDENTIAL_ROLES,
  dateTime,
  describe,
  hashOf,
  refuseAuthOption,
  type ResolvedAuthOptions,
  SessionStore,
  USER_CHECKS,
} from 'declarest/plugin';
import { momentOf, momentOrNull } from '../moments.js';
import { endsWaysIn } from '../taken-back.js';
import type { ApiKey } from './api-key.js';
import { ApiKeyStore, MAX_KEYS } from './api-key-store.js';
import { isKey, newKey } from './key-form.js';

/** The prefix and 8 characters; 208 random bits stay unknown. */
const SHOWN_LENGTH = 11;
const RESERVED: readonly string[] = Object.values(CREDENTIAL_ROLES);

type Fields = Pick<ApiKey, 'name'> & Partial<Pick<ApiKey, 'roles' | 'expiresAt'>>;

@Injectable()
export class ApiKeys {
  /** @throws InvalidOptionError for a hierarchy that gives users the role of keys, or keys further roles */
  constructor(
    private readonly store: ApiKeyStore,
    private readonly services: AuthServices,
    private readonly rules: AccessRules,
    @Inject(AUTH_OPTIONS) { roleHierarchy }: ResolvedAuthOptions,
    @Optional() private readonly sessions?: SessionStore,
  ) {
    const named = Object.entries(roleHierarchy).flat(2);
    const reserved = named.find((role) => RESERVED.includes(role));
    if (reserved === undefined) return;
    const expected = `without ${RESERVED.join(' and ')}, which say how a request with apiKeys() is authenticated`;
    refuseAuthOption(
      'roleHierarchy',
      expected,
      describe(reserved),
      'Remove it, or use another name for the role of users',
    );
  }

  /**
   * @param caller whose session must not have ended; another issuer cannot end the key, so `expiresAt` is required
   * @returns the key itself too, which is stored nowhere
   * @throws 400 naming each wrong field, 401 for a user or a session that has ended, 409
   */
  async create(body: JsonObject, userId: string, caller?: Authentication) {
    const owner = await this.expectOwner(userId, caller?.session);
    const { name, roles = [owner.role], expiresAt = null } = this.read(body, owner, caller?.token !== undefined);
    const key = newKey();
    const id = randomBytes(16).toString('hex');
    const parts = { hash: hashOf(key), prefix: key.slice(0, SHOWN_LENGTH) };
    if (!(await this.store.insert({ id, userId, ...parts, name, roles, expiresAt })))
      throw new ConflictException(`You have ${MAX_KEYS} keys, which is the most. Delete one first`);
    // What ends keys may have run before the key was stored, or after that.
    await this.expectOwner(userId, caller?.session).catch(async (error: unknown) => {
      await this.store.removeOwn(userId, id);
      throw error;
    });
    const stored = (await this.store.listOf(userId)).find((each) => each.id === id);
    if (!stored) throw new AuthenticationRequired(true);
    return { ...toKeyView(stored), key };
  }

  /** The user of a key, with the roles of the key. A text that cannot be a key needs no query. */
  async identify(text: string): Promise<Authentication> {
    const key = isKey(text) ? await this.store.find(hashOf(text)) : undefined;
    if (!key) return { bearerWasSent: true };
    const { id, userId, roles, isDue } = key;
    if (isDue) this.services.afterAnswer('The last use of an API key', () => this.store.markUsed(id));
    return { bearerWasSent: true, principal: { id: userId, email: '', roles } };
  }

  /** A password, an e-mail address and sessions are not those of a key, which goes on when they change or end. */
  async follow(change: AccountChange): Promise<void> {
    const { name, userId } = change;
    const isOver = name === 'user.changed' && change.fields.active === false;
    if (isOver || endsWaysIn(change)) await this.store.removeAll(userId);
  }

  /** A token that outlives its session must not become a key that does not expire. @throws 401 */
  private async expectOwner(userId: string, session: string | undefined): Promise<AuthUser> {
    const user = await this.services.users.findById(userId);
    const hasEnded = session !== undefined && this.sessions && !(await this.sessions.find(session));
    if (!user?.active || hasEnded) throw new AuthenticationRequired(true);
    return user;
  }

  private read(body: JsonObject, { role }: AuthUser, needsEnd: boolean): Fields {
    const granted = this.rules.compiled?.roles.expand([role]) ?? [];
    const own = [...new Set([BASE_ROLE, role, ...granted])].filter((each) => !RESERVED.includes(each));
    const checks = { name: USER_CHECKS.username, roles: rolesAmong(own), expiresAt: readExpiry };
    return checkUser(body, checks, needsEnd ? ['name', 'expiresAt'] : ['name']) as Fields;
  }
}

const rolesAmong =
  (own: readonly string[]): Check =>
  (value) =>
    Array.isArray(value) && value.every((role) => own.includes(role as string))
      ? { value: [...new Set(value)] }
      : { expected: `an array of roles that you have (${own.join(', ')})` };

const readExpiry: Check = (value) => {
  const read = dateTime.read(value);
  const hasZone = /(Z|[+-]\d\d:?\d\d)$/i.test(String(value));
  const time = 'value' in read && hasZone ? (read.value as Date).getTime() : 0;
  return time > Date.now()
    ? { value: time }
    : { expected: 'a date-time in the future with its zone, such as "2030-01-31T09:30:00Z"' };
};

/** A key as its user sees it later. */
export const toKeyView = ({ id, name, prefix, roles, createdAt, lastUsedAt, expiresAt }: ApiKey) => ({
  id,
  name,
  prefix,
  roles,
  createdAt: momentOf(createdAt),
  lastUsedAt: momentOrNull(lastUsedAt),
  expiresAt: momentOrNull(expiresAt),
});
