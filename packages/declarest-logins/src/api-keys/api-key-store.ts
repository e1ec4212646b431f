/** The statements on the table of API keys. Times are those of the database: the clocks of several processes may differ. */
import { randomInt } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Raw, type EntityManager } from 'typeorm';
import { AccountTables, databaseFailureOf } from 'declarest/plugin';
import { ApiKey } from './api-key.js';

export const MAX_KEYS = 50;
/** So long a use is not written again. */
const USE_MS = 60_000;
/** No other text is the id of a key. */
const ID = /^[0-9a-f]{32}$/;

export type NewApiKey = Pick<ApiKey, 'id' | 'userId' | 'hash' | 'prefix' | 'name' | 'roles' | 'expiresAt'>;

/** A key that is used, and whether its use is to be written. */
export type UsedKey = Pick<ApiKey, 'id' | 'userId' | 'roles'> & { readonly isDue: boolean };

@Injectable()
export class ApiKeyStore {
  constructor(private readonly tables: AccountTables) {}

  /**
   * A constraint of the table limits the keys of a user: each has a slot of its own.
   * @returns `false` where the user has `MAX_KEYS` keys
   */
  async insert(key: NewApiKey): Promise<boolean> {
    const { userId } = key;
    const past = Raw((column) => `${column} <= ${this.tables.now()}`);
    await this.tables.run((manager) => manager.delete(ApiKey, { userId, expiresAt: past }));
    const taken = new Set((await this.listOf(userId)).map(({ slot }) => slot));
    const free = Array.from({ length: MAX_KEYS }, (_, slot) => slot).filter((slot) => !taken.has(slot));
    // Requests at once seldom begin with the same one.
    const start = randomInt(MAX_KEYS);
    for (const slot of [...free.slice(start), ...free.slice(0, start)])
      if (await this.tables.run((manager) => this.take(manager, { ...key, slot }))) return true;
    return false;
  }

  /** @returns whether the slot was free */
  private async take(manager: EntityManager, key: Omit<ApiKey, 'createdAt' | 'lastUsedAt'>): Promise<boolean> {
    const values = { ...key, createdAt: this.tables.now };
    const insert = manager.createQueryBuilder().insert().into(ApiKey).values(values).updateEntity(false);
    try {
      await insert.execute();
      return true;
    } catch (error) {
      if (databaseFailureOf(error) === 'conflict') return false;
      throw error;
    }
  }

  /** @returns `undefined` for a key that was deleted, or has expired */
  async find(hash: string): Promise<UsedKey | undefined> {
    const { entities, raw } = await this.tables.read((manager) =>
      manager
        .createQueryBuilder(ApiKey, 'key')
        .cache(false)
        .select(['key.id', 'key.userId', 'key.roles'])
        .addSelect(`CASE WHEN key.lastUsedAt > ${this.tables.now()} - ${USE_MS} THEN 0 ELSE 1 END`, 'due')
        .where({ hash })
        .andWhere(`(key.expiresAt IS NULL OR key.expiresAt > ${this.tables.now()})`)
        .getRawAndEntities<{ due: unknown }>(),
    );
    const [key] = entities;
    return key && { ...key, isDue: Number(raw[0]?.due) === 1 };
  }

  async markUsed(id: string): Promise<void> {
    const isDue = Raw((column) => `(${column} IS NULL OR ${column} <= ${this.tables.now()} - ${USE_MS})`);
    await this.tables.run((manager) =>
      manager.update(ApiKey, { id, lastUsedAt: isDue }, { lastUsedAt: this.tables.now }),
    );
  }

  /** The newest come first. */
  listOf(userId: string): Promise<ApiKey[]> {
    return this.tables.read((manager) =>
      manager
        .createQueryBuilder(ApiKey, 'key')
        .cache(false)
        .where({ userId })
        .andWhere(`(key.expiresAt IS NULL OR key.expiresAt > ${this.tables.now()})`)
        .orderBy({ 'key.createdAt': 'DESC', 'key.id': 'ASC' })
        .getMany(),
    );
  }

  /** @returns whether the user has such a key */
  async removeOwn(userId: string, id: string): Promise<boolean> {
    if (!ID.test(id)) return false;
    const { affected } = await this.tables.run((manager) => manager.delete(ApiKey, { userId, id }));
    return affected === 1;
  }

  async removeAll(userId: string): Promise<void> {
    await this.tables.run((manager) => manager.delete(ApiKey, { userId }));
  }
}
