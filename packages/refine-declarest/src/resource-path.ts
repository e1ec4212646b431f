/** Builds the URLs of resources. */
import type { CrudFilter, MetaQuery } from '@refinedev/core';
import { type Client, fillPath, parametersOf } from 'declarest-client/providers';

export interface ResourcePath {
  readonly url: string;
  /** Without those that gave a value to the path. */
  readonly filters: readonly CrudFilter[];
}

/** A resource such as `products/:productId/reviews` takes the values from `meta`, or from a filter on the parameter. */
export function resolveResource(
  client: Client,
  resource: string,
  meta: MetaQuery = {},
  filters: readonly CrudFilter[] = [],
): ResourcePath {
  const isOf = (name: string, each: CrudFilter): boolean =>
    'field' in each && each.field === name && (each.operator === 'eq' || each.operator === 'eqs');
  const path = fillPath(
    resource,
    (name): unknown => meta[name] ?? filters.find((each) => isOf(name, each))?.value,
    (name) => `Pass meta: { ${name}: … }, or a filter on ${name}.`,
  );
  const names = parametersOf(resource);
  return { url: client.urlOf(path), filters: filters.filter((each) => !names.some((name) => isOf(name, each))) };
}
