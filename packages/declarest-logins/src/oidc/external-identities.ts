/** The identities at providers that users log in with. */
import { ConflictException, Inject, Injectable } from '@nestjs/common';
import { AuthEvents, UserRepository } from 'declarest';
import { AccountTables, hashOf, hasPassword } from 'declarest/plugin';
import { type ExternalProfile, OIDC_SETTINGS, type OidcSettings } from './oidc-options.js';
import { ExternalIdentity } from './oidc-tables.js';

type Key = Pick<ExternalProfile, 'issuer' | 'subject'>;
const idOf = ({ issuer, subject }: Key): string => hashOf(JSON.stringify([issuer, subject]));

@Injectable()
export class ExternalIdentities {
  constructor(
    private readonly tables: AccountTables,
    private readonly users: UserRepository,
    private readonly events: AuthEvents,
    @Inject(OIDC_SETTINGS) private readonly settings: OidcSettings,
  ) {}

  /** Finds unlinked identities too. */
  find(profile: Key): Promise<ExternalIdentity | undefined> {
    return this.tables.findOne(ExternalIdentity, { id: idOf(profile) });
  }

  listOf(userId: string): Promise<ExternalIdentity[]> {
    return this.tables.find(ExternalIdentity, { userId, isLinked: true }, { order: { linkedAt: 'ASC', id: 'ASC' } });
  }

  /** Whether a user has, or had, an identity, such as one of an issuer. */
  async exists(where: Pick<ExternalIdentity, 'userId'> & { readonly issuer?: string }): Promise<boolean> {
    return (await this.tables.findOne(ExternalIdentity, where)) !== undefined;
  }

  /** Links an identity that no user has had. @returns `undefined` where one has it, or had it */
  async add(userId: string, profile: ExternalProfile): Promise<ExternalIdentity | undefined> {
    const row = rowOf(userId, profile);
    return (await this.tables.insertUnlessTaken(ExternalIdentity, row)) ? this.afterLink(row) : undefined;
  }

  /** Links an identity because the user has asked for it. @throws ConflictException (409) where another user has it */
  async link(userId: string, profile: ExternalProfile): Promise<ExternalIdentity> {
    const added = await this.add(userId, profile);
    if (added) return added;
    const row = rowOf(userId, profile);
    const unlinked = { id: row.id, isLinked: false };
    if ((await this.tables.update(ExternalIdentity, unlinked, row)) === 1) return this.afterLink(row);
    const present = await this.find(profile);
    if (present?.isLinked && present.userId === userId) return present;
    throw new ConflictException('This login is linked to another account');
  }

  /** @returns whether the user has it @throws ConflictException (409) unless it may be the last way to log in */
  async unlink(userId: string, id: string, mayBeLast = false): Promise<boolean> {
    const needsNone = mayBeLast || (await hasPassword(this.users, userId));
    const linked = { userId, isLinked: true };
    const unlinked = await this.tables.lastOf(ExternalIdentity, linked, 'linkedAt', async (own, manager) => {
      const identity = own.find((each) => each.id === id);
      if (!identity) return undefined;
      const isUsable = (each: ExternalIdentity): boolean =>
        each !== identity && this.settings.providers.has(each.provider);
      if (!needsNone && !own.some(isUsable))
        throw new ConflictException(
          'Without a password, one login at a provider must stay: set a password, or link another login first',
        );
      await manager.update(ExternalIdentity, { id }, { isLinked: false });
      return identity;
    });
    if (unlinked) this.events.emit('identity.unlinked', { userId, provider: unlinked.provider });
    return unlinked !== undefined;
  }

  async remove({ id }: ExternalIdentity): Promise<void> {
    await this.tables.remove(ExternalIdentity, { id });
  }

  async removeAll(userId: string): Promise<void> {
    await this.tables.remove(ExternalIdentity, { userId });
  }

  private afterLink(row: ExternalIdentity): ExternalIdentity {
    this.events.emit('identity.linked', { userId: row.userId, provider: row.provider });
    return row;
  }
}

const rowOf = (userId: string, profile: ExternalProfile): ExternalIdentity => {
  const { provider, issuer, subject, email = null } = profile;
  return { id: idOf(profile), userId, provider, issuer, subject, email, isLinked: true, linkedAt: Date.now() };
};
