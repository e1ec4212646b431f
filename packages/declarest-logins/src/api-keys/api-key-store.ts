/** The statements on the table of API keys. Times are those of the database: the clocks of several processes may differ. */
import { randomInt } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { IsNull, Not, Raw, type FindOptionsWhere } from 'typeorm';
import { AccountTables } from 'declarest/plugin';
import { ApiKey } from './api-key.js';

export const MAX_KEYS = 50;
/** So long a use is not written again. */
export const USE_MS = 60_000;
/** No other text is the id of a key. */
const ID = /^[0-9a-f]{32}$/;

export type NewApiKey = Pick<ApiKey, 'id' | 'userId' | 'hash' | 'prefix' | 'name' | 'roles' | 'expiresAt'>;

@Injectable()
export class ApiKeyStore {
  constructor(private readonly tables: AccountTables) {}

  /**
   * A constraint of the table limits the keys of a user: each has a slot of its own.
   * @returns `false` where the user has `MAX_KEYS` keys
   */
  async insert(key: NewApiKey): Promise<boolean> {
    const { userId } = key;
    await this.tables.remove(ApiKey, { userId, expiresAt: Not(this.tables.after(0)) });
    const taken = new Set((await this.listOf(userId)).map(({ slot }) => slot));
    const free = Array.from({ length: MAX_KEYS }, (_, slot) => slot).filter((slot) => !taken.has(slot));
    // Requests at once seldom begin with the same one.
    const start = randomInt(MAX_KEYS);
    for (const slot of [...free.slice(start), ...free.slice(0, start)])
      if (await this.tables.insertUnlessTaken(ApiKey, { ...key, slot, createdAt: this.tables.now })) return true;
    return false;
  }

  /** @returns `undefined` for a key that was deleted, or has expired */
  find(hash: string): Promise<ApiKey | undefined> {
    return this.tables.findOne(ApiKey, this.live({ hash }));
  }

  /** Of several requests at once, and of several processes, one writes. */
  async markUsed(id: string): Promise<void> {
    const isDue = Raw((column) => `(${column} IS NULL OR ${column} <= ${this.tables.now()} - ${USE_MS})`);
    await this.tables.update(ApiKey, { id, lastUsedAt: isDue }, { lastUsedAt: this.tables.now });
  }

  /** The newest come first. */
  listOf(userId: string): Promise<ApiKey[]> {
    return this.tables.find(ApiKey, this.live({ userId }), { order: { createdAt: 'DESC', id: 'ASC' } });
  }

  /** @returns whether the user has such a key */
  async removeOwn(userId: string, id: string): Promise<boolean> {
    return ID.test(id) && (await this.tables.remove(ApiKey, { userId, id })) === 1;
  }

  async removeAll(userId: string): Promise<void> {
    await this.tables.remove(ApiKey, { userId });
  }

  private live(where: FindOptionsWhere<ApiKey>): FindOptionsWhere<ApiKey>[] {
    return [
      { ...where, expiresAt: IsNull() },
      { ...where, expiresAt: this.tables.after(0) },
    ];
  }
}
