/** What TypeORM's decorators declare of a class, known before there is a data source. */
import { getMetadataArgsStorage } from 'typeorm';

export const isEntity = (target: object): boolean =>
  getMetadataArgsStorage().tables.some((table) => table.target === target);

/** Whether the class, or a base class, has a primary column, or an embedded object that may have one. */
export function hasPrimaryKey(entity: object): boolean {
  const { columns, embeddeds } = getMetadataArgsStorage();
  const classes = new Set<unknown>();
  for (let each: unknown = entity; typeof each === 'function'; each = Object.getPrototypeOf(each)) classes.add(each);
  return (
    columns.some(({ target, options }) => options.primary === true && classes.has(target)) ||
    embeddeds.some(({ target }) => classes.has(target))
  );
}
