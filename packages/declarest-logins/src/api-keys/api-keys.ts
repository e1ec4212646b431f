/** The life of API keys, with which programs act for a user. Each request reads its key, and the user of the key. */
import { randomBytes } from 'node:crypto';
import { ConflictException, Injectable } from '@nestjs/common';
import type { AuthUser, HttpRequest, JsonObject } from 'declarest';
import type { AccountChange, Authentication, Check } from 'declarest/plugin';
import { authenticationOf, AuthenticationRequired, checkBody, checks, hashOf } from 'declarest/plugin';
import { AuthServices, Logins } from 'declarest/plugin';
import type { ApiKey } from './api-key.js';
import { ApiKeyStore, MAX_KEYS, USE_MS } from './api-key-store.js';
import { isKey, newKey } from './key-form.js';
import { momentOf, momentOrNull } from '../moments.js';
import { endsWaysIn } from '../ways-in.js';

export const TOO_MANY_KEYS = `A user has at most ${MAX_KEYS} keys. Delete one first`;
/** The prefix and 8 characters; 208 random bits stay unknown. */
const SHOWN_LENGTH = 11;

type Fields = Pick<ApiKey, 'name'> & Partial<Pick<ApiKey, 'roles' | 'expiresAt'>>;

@Injectable()
export class ApiKeys {
  constructor(
    private readonly store: ApiKeyStore,
    private readonly services: AuthServices,
    private readonly logins: Logins,
  ) {}

  /**
   * @param request whose session must not have ended; another issuer cannot end the key, so `expiresAt` is required
   * @returns the key itself too, which is stored nowhere
   * @throws 400 naming each wrong field, 401 for a user or a session that has ended, 409
   */
  async create(body: JsonObject, userId: string, request: HttpRequest) {
    const owner = await this.expectOwner(userId, request);
    const isOfOtherIssuer = authenticationOf(request)?.token !== undefined;
    const { name, roles = [owner.role], expiresAt = null } = this.read(body, owner, isOfOtherIssuer);
    const key = newKey();
    const id = randomBytes(16).toString('hex');
    const parts = { hash: hashOf(key), prefix: key.slice(0, SHOWN_LENGTH) };
    if (!(await this.store.insert({ id, userId, ...parts, name, roles, expiresAt })))
      throw new ConflictException(TOO_MANY_KEYS);
    // What ends keys may have run before the key was stored, or after that.
    await this.expectOwner(userId, request).catch(async (error: unknown) => {
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
    const { id, userId, roles, lastUsedAt } = key;
    if (Math.abs(Date.now() - (lastUsedAt ?? 0)) > USE_MS)
      this.services.afterAnswer('The last use of an API key', () => this.store.markUsed(id));
    return { bearerWasSent: true, principal: { id: userId, email: '', roles } };
  }

  /** A password, an e-mail address and sessions are not those of a key, which goes on when they change or end. */
  async onAccountChange(change: AccountChange): Promise<void> {
    const { name } = change;
    const isOver = name === 'user.changed' && change.fields.active === false;
    if (isOver || endsWaysIn(change)) await this.store.removeAll(change.userId);
  }

  /** A token that outlives its session must not become a key that does not expire. @throws 401 */
  private async expectOwner(userId: string, request: HttpRequest): Promise<AuthUser> {
    const user = await this.services.users.findById(userId);
    if (!user?.active) throw new AuthenticationRequired(true);
    await this.logins.expectSession(request);
    return user;
  }

  private read(body: JsonObject, { role }: AuthUser, needsEnd: boolean): Fields {
    const own = this.services.expandRoles([role]);
    const rules = { name: checks.username, roles: rolesAmong(own), expiresAt: readExpiry };
    return checkBody(body, rules, needsEnd ? ['name', 'expiresAt'] : ['name']) as Fields;
  }
}

const rolesAmong =
  (own: readonly string[]): Check =>
  (value) =>
    Array.isArray(value) && value.every((role) => own.includes(role as string))
      ? { value: [...new Set(value)] }
      : { expected: `an array of roles of the user (${own.join(', ')})` };

const readExpiry: Check = (value) => {
  const read = checks.dateTime(value);
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
