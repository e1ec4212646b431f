/** Changes what a caller may not see, as the options of the resources and the access rules say. */
import type { INestApplication } from '@nestjs/common';
import { DataSource, type EntityManager, type EntityMetadata, type ObjectLiteral } from 'typeorm';
import { AuthUser } from '../../auth/users/auth-user.js';
import { joinTransaction } from '../../database/transactions.js';
import type { ColumnMetadata } from '../../entities/column-types.js';
import { applicationOf } from '../../routes/application.js';
import type { TestUser } from '../client.js';
import { keyOf, visibleRecords } from './visible-records.js';

type Change = (manager: EntityManager) => Promise<unknown>;

/**
 * Changes records that no generated operation shows to the caller, and hidden columns of the others, and removes some of the
 * hidden records. It changes nothing that the caller may see. Entities without a resource stay as they are.
 * @example
 * vary: async (app, caller) => {
 *   await varyHidden(app, caller);
 *   await app.get(DataSource).query("UPDATE audit SET text = 'changed'");
 * }
 */
export async function varyHidden(app: INestApplication, caller: TestUser): Promise<void> {
  const before = await contentsFor(app, caller);
  const dataSources = applicationOf(app).singletonsOf(DataSource);
  for (const { metadata, records, used, deciding } of await visibleRecords(app, caller)) {
    const dataSource = [...dataSources].find((each) => each.entityMetadatas.includes(metadata));
    if (!dataSource || metadata.tableType === 'view') continue;
    const rows = await readAll(dataSource, metadata);
    const isShown = (row: ObjectLiteral): boolean => records.has(keyOf(metadata, row));
    const hidden = rows.filter((row) => !isShown(row));
    const columns = metadata.columns.filter((each) => isOrdinary(each) && !deciding.has(each));
    const unseen = columns.filter((each) => !used.has(each));
    const changes = [
      ...columns.flatMap((column) => changesOf(metadata, hidden, column)),
      ...unseen.flatMap((column) => changesOf(metadata, rows.filter(isShown), column)),
    ];
    const attempt = async (some: readonly Change[]): Promise<void> => {
      const isDone = await dataSource
        .transaction((manager) =>
          joinTransaction(manager, async () => {
            for (const change of some) await change(manager);
            if ((await contentsFor(app, caller)) !== before) throw new Error('The caller sees it');
          }),
        )
        .then(() => true)
        // Such as a unique value, or a record that others refer to.
        .catch(() => false);
      if (isDone || some.length < 2) return;
      await attempt(some.slice(0, some.length >> 1));
      await attempt(some.slice(some.length >> 1));
    };
    await attempt(changes);
    const removed = hidden.filter((_, place) => place % 3 === 0);
    for (const row of removed)
      await attempt([(manager) => manager.delete(metadata.target, metadata.getEntityIdMap(row) ?? {})]);
  }
}

/** Everything that the caller reads. */
async function contentsFor(app: INestApplication, caller: TestUser): Promise<string> {
  const visible = await visibleRecords(app, caller);
  return JSON.stringify(visible.map(({ metadata, records }) => [metadata.tablePath, [...records].toSorted()]));
}

/** Also hidden columns, and deleted records. */
function readAll(dataSource: DataSource, metadata: EntityMetadata): Promise<ObjectLiteral[]> {
  const query = dataSource.createQueryBuilder<ObjectLiteral>(metadata.target, 'record').withDeleted().cache(false);
  const columns = metadata.columns.filter(({ relationMetadata }) => !relationMetadata);
  return query.select(columns.map(({ propertyPath }) => `record.${propertyPath}`)).getMany();
}

const KEPT = ['isPrimary', 'isVersion', 'isUpdateDate', 'isDeleteDate', 'isDiscriminator', 'isVirtual'] as const;
/** What decides on the logins of users stays as it is. */
const OF_USERS = ['password', 'role', 'active'];

function isOrdinary(column: ColumnMetadata): boolean {
  const { entityMetadata, propertyName, referencedColumn } = column;
  const { target } = entityMetadata;
  const isOfUser =
    typeof target === 'function' && target.prototype instanceof AuthUser && OF_USERS.includes(propertyName);
  return !isOfUser && !referencedColumn && !column.isGenerated && !KEPT.some((flag) => column[flag]);
}

/** Each record gets the value of another one, changed: that changes sums, sorts and texts. */
function changesOf(metadata: EntityMetadata, rows: readonly ObjectLiteral[], column: ColumnMetadata): Change[] {
  return rows.flatMap((row, place): Change[] => {
    const value: unknown = column.getEntityValue(rows.at(-1 - place) ?? row) ?? column.getEntityValue(row);
    const changed = otherThan(value, column, place);
    if (changed === undefined) return [];
    // TypeORM would change them with each update, and callers see them.
    const kept = metadata.columns.filter(({ isVersion, isUpdateDate }) => isVersion || isUpdateDate);
    const values = column.createValueMap(changed);
    for (const each of kept)
      Object.assign(
        values,
        each.createValueMap(() => metadata.connection.driver.escape(each.databaseName)),
      );
    return [
      (manager) =>
        manager
          .createQueryBuilder()
          .update(metadata.target)
          .set(values)
          .where(metadata.getEntityIdMap(row) ?? {})
          .updateEntity(false)
          .callListeners(false)
          .execute(),
    ];
  });
}

/** @returns `undefined` for a value that is not known to have another one */
function otherThan(value: unknown, column: ColumnMetadata, place: number): unknown {
  if (column.enum) return column.enum.find((each) => each !== value);
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1 + place;
  if (value instanceof Date) return new Date(value.getTime() + 86_400_000 * (1 + place));
  if (typeof value !== 'string' || value === '') return undefined;
  const last = value.at(-1) as string;
  if (/^-?\d+(?:\.\d+)?$/.test(value)) return value.slice(0, -1) + String((Number(last) + 1) % 10);
  return /\d{4}-\d\d-\d\d/.test(value) ? undefined : value.slice(0, -1) + (last === 'x' ? 'y' : 'x');
}
