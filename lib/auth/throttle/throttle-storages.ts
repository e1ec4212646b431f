/** Counts attempts in the database, for all processes that share it. */
import type { Provider } from '@nestjs/common';
import { Column, Entity, Index, LessThanOrEqual, MoreThan, PrimaryColumn, type EntityManager } from 'typeorm';
import { TIME } from '../../database/database-time.js';
import { databaseFailureOf } from '../../entities/database-errors.js';
import { isMysql, isPostgres, isSqlite } from '../../entities/database-family.js';
import { AccountTables } from '../users/account-tables.js';
import type { ThrottleSettings, ThrottleStorage } from './throttle-options.js';

export const THROTTLE_STORAGE = Symbol('declarest.throttleStorage');

/** Provides `undefined` for the memory of this process. */
export function storageProvider(settings: ThrottleSettings | undefined): Provider {
  const { storage = 'memory' } = settings ?? {};
  const provide = THROTTLE_STORAGE;
  if (storage !== 'database') return { provide, useValue: storage === 'memory' ? undefined : storage };
  return { provide, inject: [AccountTables], useFactory: (tables: AccountTables) => new DatabaseStorage(tables) };
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

export class DatabaseStorage implements ThrottleStorage {
  constructor(private readonly tables: AccountTables) {}

  async add(key: string, amount: number, ttl: number): Promise<number> {
    const now = Date.now();
    const count = amount === 0 ? await this.tables.read(read(key, now)) : await this.change(key, amount, now);
    if (count === 0) await this.tables.run((manager) => manager.delete(ThrottleCount, { id: key, count: 0 }));
    if (count !== undefined || amount <= 0) return count ?? 0;
    try {
      const created = { id: key, count: amount, expiresAt: now + ttl };
      await this.tables.run((manager) => manager.insert(ThrottleCount, created));
      return amount;
    } catch (error) {
      if (databaseFailureOf(error) !== 'conflict') throw error;
      // Another request has counted it first, or the row is one that has ended.
      await this.tables.run((manager) => manager.delete(ThrottleCount, { id: key, expiresAt: LessThanOrEqual(now) }));
      return this.add(key, amount, ttl);
    }
  }

  /** Each call reads its own count. @returns `undefined` where there is none */
  private change(key: string, amount: number, now: number): Promise<number | undefined> {
    const { dataSource, connections } = this.tables;
    const sum = `count + (${amount})`;
    const update = async (manager: EntityManager): Promise<number | undefined> => {
      // MySQL and MariaDB keep the value for the connection.
      const set = { count: () => (isMysql(dataSource) ? `LAST_INSERT_ID(${sum})` : sum) };
      const query = manager.createQueryBuilder().update(ThrottleCount).set(set);
      query.where(`id = :key AND ${sum} >= 0`, { key }).andWhere({ expiresAt: MoreThan(now) });
      const { affected, raw } = await (isPostgres(dataSource) ? query.returning('count') : query).execute();
      if (affected === 0) return undefined;
      if (isSqlite(dataSource)) return read(key, now)(manager);
      const [row] = (isMysql(dataSource) ? await manager.query('SELECT LAST_INSERT_ID() AS count') : raw) as readonly [
        { readonly count: unknown },
      ];
      return Number(row.count);
    };
    // On SQLite, a transaction is alone.
    return isSqlite(dataSource) ? connections.transacted(update) : this.tables.run(update);
  }
}

const read =
  (id: string, now: number) =>
  async (manager: EntityManager): Promise<number | undefined> => {
    const row = await manager.findOne(ThrottleCount, { where: { id, expiresAt: MoreThan(now) }, cache: false });
    return row?.count;
  };
