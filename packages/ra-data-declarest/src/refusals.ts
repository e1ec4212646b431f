/** Remembers what the server does not offer, so that it is tried once for each resource. */

/** `id` in `sortableFields`, numbered pages, `size`, `id` in `filterableFields`, or batches. */
export type Offer = 'sort by id' | 'page' | 'size' | 'filter by id' | 'batch';

export interface Refusals {
  has(resource: string, offer: Offer): boolean;
  add(resource: string, offer: Offer): void;
}

export function createRefusals(): Refusals {
  const refused = new Set<string>();
  return {
    has: (resource, offer) => refused.has(`${offer} ${resource}`),
    add: (resource, offer) => void refused.add(`${offer} ${resource}`),
  };
}
