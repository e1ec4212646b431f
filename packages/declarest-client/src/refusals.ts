/** Remembers what the server does not offer, so that a provider tries it once for each resource. */

/** `id` in `sortableFields`, numbered pages, `size`, `id` in `filterableFields`, or batches. */
export type Feature = 'sort by id' | 'page' | 'size' | 'filter by id' | 'batch';

export interface Refusals {
  has(resource: string, feature: Feature): boolean;
  add(resource: string, feature: Feature): void;
}

export function createRefusals(): Refusals {
  const refused = new Set<string>();
  return {
    has: (resource, feature) => refused.has(`${feature} of ${resource}`),
    add: (resource, feature) => void refused.add(`${feature} of ${resource}`),
  };
}
