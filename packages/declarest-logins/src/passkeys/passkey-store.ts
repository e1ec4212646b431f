/** The statements on the table of passkeys. */
import { ConflictException, Injectable } from '@nestjs/common';
import { type EntityManager, LessThan } from 'typeorm';
import { UserRepository } from 'declarest';
import { AccountTables, type ColumnMetadata, databaseFailureOf, hashOf, isSqlite } from 'declarest/plugin';
import { hasPassword } from '../has-password.js';
import { Passkey } from './passkey-tables.js';
import type { CredentialUse, NewCredential } from './web-authn.js';

/** Of one user. */
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
    return this.tables.find(Passkey, { userId }, 'createdAt', 'id');
  }

  /** @throws ConflictException (409) for a passkey that is known */
  async insert(credential: NewCredential, of: OwnPasskey): Promise<Passkey> {
    const id = hashOf(credential.credentialId);
    const values = { ...credential, ...of, id, lastUsedAt: null, createdAt: this.tables.now };
    await this.tables
      .run((manager) =>
        manager.createQueryBuilder().insert().into(Passkey).values(values).updateEntity(false).execute(),
      )
      .catch((error: unknown) => {
        throw databaseFailureOf(error) === 'conflict' ? new ConflictException('This passkey is known already') : error;
      });
    return (await this.tables.findOne(Passkey, { id })) ?? { ...values, createdAt: Date.now() };
  }

  /** @returns `false` for a counter that did not rise, and where the passkey was removed meanwhile */
  async countUse(id: string, { counter, backedUp }: CredentialUse): Promise<boolean> {
    // 0 is the counter of authenticators that do not count.
    const before = counter === 0 ? 0 : LessThan(counter);
    const { affected } = await this.tables.run((manager) =>
      manager
        .createQueryBuilder()
        .update(Passkey)
        .set({ counter, backedUp, lastUsedAt: this.tables.now })
        .where({ id, counter: before })
        .execute(),
    );
    return affected === 1;
  }

  /** @returns `undefined` where the user has no such passkey */
  async rename(userId: string, id: string, name: string): Promise<Passkey | undefined> {
    await this.tables.run((manager) => manager.update(Passkey, { userId, id }, { name }));
    return this.tables.findOne(Passkey, { userId, id });
  }

  /** Locks the passkeys of the user, so that two requests at once do not take the last two. */
  async remove(userId: string, id: string): Promise<'removed' | 'unknown' | 'last'> {
    // A user who has a password keeps one.
    const mayBeLast = await hasPassword(this.users, userId);
    const { connections, dataSource } = this.tables;
    const work = async (manager: EntityManager) => {
      const query = manager.createQueryBuilder(Passkey, 'passkey').cache(false).where({ userId }).orderBy('passkey.id');
      // SQLite has one connection, whose transactions wait for each other.
      if (!isSqlite(dataSource)) query.setLock('pessimistic_write');
      const own = await query.getMany();
      if (!own.some((each) => each.id === id)) return 'unknown';
      if (own.length === 1 && !mayBeLast) return 'last';
      const counter = dataSource.getMetadata(Passkey).findColumnWithPropertyName('counter') as ColumnMetadata;
      await connections.claim(manager, counter, (name) => [`${name} + 1`, `${name} - 1`], own[0]?.id);
      await manager.delete(Passkey, { id });
      return 'removed';
    };
    return connections.settled(work);
  }

  async removeAll(userId: string): Promise<void> {
    await this.tables.run((manager) => manager.delete(Passkey, { userId }));
  }
}
