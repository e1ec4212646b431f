/** Counts attempts in the database, for all processes that share it. */
import type { Provider } from '@nestjs/common';
import { Column, Entity, Index, LessThanOrEqual, MoreThan, PrimaryColumn } from 'typeorm';
import type { EntityManager, FindOptionsWhere } from 'typeorm';
import { readPrimary, TIME } from '../../database/database-time.js';
import { databaseFailureOf, isLostRace } from '../../entities/database-errors.js';
import { isMysql, isPostgres, isSqlite } from '../../entities/database-family.js';
import { AccountTables } from '../tables/account-tables.js';
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
    try {
      const count = amount === 0 ? await this.tables.read(read(key, now)) : await this.change(key, amount, now);
      if (count === 0) await this.remove({ id: key, count });
      if (count !== undefined || amount <= 0) return count ?? 0;
      const created = { id: key, count: amount, expiresAt: now + ttl };
      await this.tables.run((manager) => manager.insert(ThrottleCount, created));
      return amount;
    } catch (error) {
      // Another node of a cluster, or another request, has counted it first, or the row is one that has ended.
      if (!isLostRace((error as Error).cause) && databaseFailureOf(error) !== 'conflict') throw error;
      await this.remove({ id: key, expiresAt: LessThanOrEqual(now) });
      return this.add(key, amount, ttl);
    }
  }

  /** A row that stays, because another node was faster, is found again. */
  private async remove(where: FindOptionsWhere<ThrottleCount>): Promise<void> {
    await this.tables
      .run((manager) => manager.delete(ThrottleCount, where))
      .catch((error: Error) => {
        if (!isLostRace(error.cause)) throw error;
      });
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
    const query = manager.createQueryBuilder(ThrottleCount, 'row').cache(false);
    return (await readPrimary(query.where({ id, expiresAt: MoreThan(now) })).getOne())?.count;
  };
