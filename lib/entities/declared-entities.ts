/** What TypeORM's decorators declare of a class, known before there is a data source. */
import { getMetadataArgsStorage } from 'typeorm';

export const isEntity = (target: object): boolean =>
  getMetadataArgsStorage().tables.some((table) => table.target === target);

/** Whether the class, or a base class, has a primary column, or an embedded object that may have one. */
export function hasPrimaryKey(entity: object): boolean {
  const { columns, embeddeds } = getMetadataArgsStorage();
  const classes = classesOf(entity);
  return (
    columns.some(({ target, options }) => options.primary === true && classes.includes(target)) ||
    embeddeds.some(({ target }) => classes.includes(target))
  );
}

/** The names of the columns, relations and embedded objects of the class and its base classes. */
export function declaredNames(entity: unknown): ReadonlySet<string> {
  const { columns, relations, embeddeds } = getMetadataArgsStorage();
  const classes = classesOf(entity);
  const declared = [...columns, ...relations, ...embeddeds].filter(({ target }) => classes.includes(target));
  return new Set(declared.map(({ propertyName }) => propertyName));
}

const classesOf = (type: unknown): unknown[] =>
  typeof type === 'function' ? [type, ...classesOf(Object.getPrototypeOf(type))] : [];
