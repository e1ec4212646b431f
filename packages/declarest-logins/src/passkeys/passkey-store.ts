/** The statements on the table of passkeys. */
import { ConflictException, Injectable } from '@nestjs/common';
import { LessThan } from 'typeorm';
import { UserRepository } from 'declarest';
import { AccountTables, hashOf, hasPassword } from 'declarest/plugin';
import { Passkey } from './passkey-tables.js';
import type { CredentialUse, NewCredential } from './web-authn.js';

/** Passkeys of one user. */
export const MAX_PASSKEYS = 20;

type OwnPasskey = Pick<Passkey, 'userId' | 'handle' | 'name'>;

@Injectable()
export class PasskeyStore {
  constructor(
    private readonly tables: AccountTables,
    private readonly users: UserRepository,
  ) {}

  /** @param owner `userId` of the only user whose passkey it may be */
  find(credentialId: string, owner?: Pick<Passkey, 'userId'>): Promise<Passkey | undefined> {
    const where = { id: hashOf(credentialId), ...(owner && { userId: owner.userId }) };
    return this.tables.findOne(Passkey, where);
  }

  /** The oldest first. */
  listOf(userId: string): Promise<Passkey[]> {
    return this.tables.find(Passkey, { userId }, { order: { createdAt: 'ASC', id: 'ASC' } });
  }

  /** @throws ConflictException (409) for a passkey that is known */
  async insert(credential: NewCredential, of: OwnPasskey): Promise<Passkey> {
    const id = hashOf(credential.credentialId);
    const values = { ...credential, ...of, id, lastUsedAt: null, createdAt: this.tables.now };
    if (!(await this.tables.insertUnlessTaken(Passkey, values)))
      throw new ConflictException('This passkey is known already');
    return (await this.tables.findOne(Passkey, { id })) ?? { ...values, createdAt: Date.now() };
  }

  /** @returns `false` for a counter that did not rise, and where the passkey was removed meanwhile */
  async countUse(id: string, { counter, backedUp }: CredentialUse): Promise<boolean> {
    // 0 is the counter of authenticators that do not count.
    const before = counter === 0 ? 0 : LessThan(counter);
    const values = { counter, backedUp, lastUsedAt: this.tables.now };
    return (await this.tables.update(Passkey, { id, counter: before }, values)) === 1;
  }

  /** @returns `undefined` where the user has no such passkey */
  async rename(userId: string, id: string, name: string): Promise<Passkey | undefined> {
    await this.tables.update(Passkey, { userId, id }, { name });
    return this.tables.findOne(Passkey, { userId, id });
  }

  /** @param mayBeLast otherwise, a user without a password keeps one */
  async remove(userId: string, id: string, mayBeLast = false): Promise<'removed' | 'unknown' | 'last'> {
    const needsNone = mayBeLast || (await hasPassword(this.users, userId));
    return this.tables.lastOf(Passkey, { userId }, 'counter', async (own, manager) => {
      if (!own.some((each) => each.id === id)) return 'unknown';
      if (own.length === 1 && !needsNone) return 'last';
      await manager.delete(Passkey, { id });
      return 'removed';
    });
  }

  async removeAll(userId: string): Promise<void> {
    await this.tables.remove(Passkey, { userId });
  }
}
