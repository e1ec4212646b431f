/** Reads the declarations of TypeORM's decorators on a class, before there is a data source. */
import type { Type } from '@nestjs/common';
import { getMetadataArgsStorage } from 'typeorm';
import { isClass } from '../options/invalid-option.js';

export const isEntity = (target: object): boolean =>
  getMetadataArgsStorage().tables.some((table) => table.target === target);

export const isView = (target: object): boolean =>
  getMetadataArgsStorage().tables.some((table) => table.target === target && table.type === 'view');

/** The primary columns of the class and its base classes. Embedded objects of a table may have some too. */
export function primaryColumns(entity: object): readonly string[] {
  const classes = classesOf(entity) as Function[];
  const columns = getMetadataArgsStorage().filterColumns(classes);
  const embeddeds = isView(entity) ? [] : getMetadataArgsStorage().filterEmbeddeds(classes);
  return [...columns.filter(({ options }) => options.primary), ...embeddeds].map(({ propertyName }) => propertyName);
}

/** Whether the class, a base class, or an embedded object may have a `@VersionColumn`. */
export function mayHaveVersion(entity: object): boolean {
  const [storage, classes] = [getMetadataArgsStorage(), classesOf(entity) as Function[]];
  return storage.filterColumns(classes).some(({ mode }) => mode === 'version') || !!storage.filterEmbeddeds(classes)[0];
}

/** The names of the columns, relations and embedded objects of the class and its base classes. */
export function declaredNames(entity: unknown): ReadonlySet<string> {
  const { columns, relations, embeddeds } = getMetadataArgsStorage();
  const classes = classesOf(entity);
  const declared = [...columns, ...relations, ...embeddeds].filter(({ target }) => classes.includes(target));
  return new Set(declared.map(({ propertyName }) => propertyName));
}

/** What the relations of the class and of its embedded objects are called and need, where that is no name. */
export function relatedClasses(entity: unknown): (readonly [relation: string, related: Type])[] {
  const { relations, embeddeds } = getMetadataArgsStorage();
  const isOwn = ({ target }: { readonly target: unknown }): boolean => classesOf(entity).includes(target);
  const typeOf = ({ type }: { readonly type: unknown }): unknown =>
    typeof type === 'function' && (type as () => Type)();
  return [
    ...relations.filter(isOwn).flatMap((each) => {
      const related = typeOf(each);
      return isClass(related) ? [[`${(entity as Type).name}.${each.propertyName}`, related as Type] as const] : [];
    }),
    ...embeddeds.filter(isOwn).flatMap((each) => relatedClasses(typeOf(each))),
  ];
}

const classesOf = (type: unknown): unknown[] =>
  typeof type === 'function' ? [type, ...classesOf(Object.getPrototypeOf(type))] : [];
