/** Calls the listeners and subscribers of TypeORM around statements of the package, with what `save` gives them. */
import { isDeepStrictEqual } from 'node:util';
import type { DataSource, EntityMetadata, EntitySubscriberInterface, QueryRunner } from 'typeorm';
import type { ColumnMetadata } from '../../entities/column-types.js';
import { columnValue, listensTo } from '../../entities/entity-instances.js';
import { persist } from '../../entities/text-reads.js';

/** As TypeORM calls them in its metadata of listeners. A subscriber's methods are `beforeSoftRemove` and so on. */
export type EntityEvent = 'insert' | 'update' | 'remove' | 'soft-remove' | 'recover';

/** The listener or subscriber that takes part in one of the events of an entity, for messages. */
export function hookOf(
  events: readonly (EntityEvent | 'load')[],
  { listeners, target }: EntityMetadata,
  { subscribers }: DataSource,
): string | undefined {
  const types: readonly string[] = events.flatMap((event) => [`before-${event}`, `after-${event}`]);
  const listener = listeners.find(({ type }) => types.includes(type));
  if (listener) return `its @${nameOf(listener.type)} listener`;
  const hooks = events.flatMap((event) => [`before${nameOf(event)}`, `after${nameOf(event)}`]);
  const isHooked = (each: EntitySubscriberInterface): boolean =>
    hooks.some((name) => each[name as keyof EntitySubscriberInterface] !== undefined) && listensTo(each, target);
  const subscriber = subscribers.find(isHooked);
  return subscriber && `the subscriber ${subscriber.constructor.name}`;
}

/** Whether listeners or subscribers take part in an event of the entity, or of a class that shares its table. */
export const hears = (event: EntityEvent, metadata: EntityMetadata, dataSource: DataSource): boolean =>
  [metadata, ...metadata.childEntityMetadatas].some((each) => hookOf([event], each, dataSource) !== undefined);

/** @param details after the entity, in the order of TypeORM's events */
export function announce(
  when: 'Before' | 'After',
  event: EntityEvent,
  { broadcaster }: QueryRunner,
  [metadata, entity, ...details]: readonly [EntityMetadata, object, ...unknown[]],
): Promise<void> {
  // Its types leave out the key of a new record, which subscribers get as `entityId`.
  const { broadcast } = broadcaster as { broadcast(...details: unknown[]): Promise<void> };
  const own = metadata.findInheritanceMetadata(entity);
  return broadcast.call(broadcaster, `${when}${nameOf(event)}`, own, entity, ...details);
}

/** The columns in which an entity differs from the stored one. A column that it does not have is unchanged. */
export const changedColumns = (
  { columns }: EntityMetadata,
  [entity, stored]: readonly [object, object],
  dataSource: DataSource,
): ColumnMetadata[] =>
  columns.filter((column) => {
    const [value, before] = [columnValue(column, entity), columnValue(column, stored)];
    if (value === undefined || column.isPrimary || column.isVirtualProperty || column.isDiscriminator) return false;
    if (column.relationMetadata) return String(value ?? null) !== String(before ?? null);
    // Databases sort the keys of these types.
    if (column.type === 'json' || column.type === 'jsonb') return !isDeepStrictEqual(value, before);
    return !isDeepStrictEqual(persist(value, column, dataSource), persist(before, column, dataSource));
  });

/** As the events of an update name the columns: those that belong to a relation alone by the relation. */
export function changesOf(columns: Iterable<ColumnMetadata>) {
  const all = [...columns];
  const relations = all.flatMap(({ isVirtual, relationMetadata }) => (isVirtual && relationMetadata) || []);
  return [all.filter(({ isVirtual }) => !isVirtual), [...new Set(relations)]] as const;
}

const nameOf = (event: string): string => event.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
