/** Where failures are counted, besides the storages of @nestjs/throttler. */
import { Column, Entity, Index, LessThanOrEqual, PrimaryColumn } from 'typeorm';
import { databaseFailureOf } from '../../entities/database-errors.js';
import { TIME } from '../../database/database-time.js';
import type { AccountTables } from '../account-tables.js';
import type { ThrottleSettings, ThrottleStorage } from './throttle-options.js';

/** So many keys are kept at most. */
const MAX_KEYS = 100_000;

/** Where a setting says that failures are counted. */
export function storageOf(settings: ThrottleSettings | undefined, tables: AccountTables | undefined): ThrottleStorage {
  const { storage = 'memory' } = settings ?? {};
  if (storage === 'memory' || (storage === 'database' && !tables)) return new MemoryStorage();
  return storage === 'database' ? new DatabaseStorage(tables as AccountTables) : storage;
}

/** Of one process. */
export class MemoryStorage implements ThrottleStorage {
  /** Those that end first are in front. */
  private readonly counts = new Map<string, { count: number; readonly until: number }>();

  increment(key: string, ttl: number): Promise<{ totalHits: number }> {
    const now = Date.now();
    for (const [each, { until }] of this.counts) {
      if (until > now && this.counts.size < MAX_KEYS) break;
      this.counts.delete(each);
    }
    const known = this.counts.get(key);
    const counted = known ?? { count: 0, until: now + ttl };
    counted.count += 1;
    if (!known) this.counts.set(key, counted);
    return Promise.resolve({ totalHits: counted.count });
  }
}

/** Of all processes that share a database. */
export class DatabaseStorage implements ThrottleStorage {
  constructor(private readonly tables: AccountTables) {}

  increment(key: string, ttl: number): Promise<{ totalHits: number }> {
    return this.tables.run(async (manager) => {
      const now = Date.now();
      await manager.delete(ThrottleCount, { id: key, expiresAt: LessThanOrEqual(now) });
      const increase = () => manager.increment(ThrottleCount, { id: key }, 'count', 1);
      const { affected } = await increase();
      if (affected === 0)
        await manager
          .insert(ThrottleCount, { id: key, count: 1, expiresAt: now + ttl })
          .catch(async (error: unknown) => {
            // Another request has counted it first.
            if (databaseFailureOf(error) !== 'conflict') throw error;
            await increase();
          });
      const row = await manager.findOne(ThrottleCount, { where: { id: key }, cache: false });
      return { totalHits: row?.count ?? 1 };
    });
  }
}

/** How often something has failed, until the count ends. */
@Entity('declarest_throttle_count')
export class ThrottleCount {
  /** SHA-256 of what is counted: it names no account. */
  @PrimaryColumn({ type: 'varchar', length: 64 })
  id!: string;

  @Column({ type: 'int' })
  count!: number;

  @Index()
  @Column(TIME)
  expiresAt!: number;
}
