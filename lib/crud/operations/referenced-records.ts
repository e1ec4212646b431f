/** What the caller of an operation may see of the records that a resource refers to. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { and, isEverything, or, type Condition, type Relation } from '../sql/condition.js';
import type { Resource } from '../plan/resource.js';
import type { View } from '../rows/caller-view.js';
import type { RelatedAccess } from './relation-views.js';

interface Referring {
  readonly resource: Pick<Resource<object>, 'pathParameters' | 'schema' | 'list'>;
  related(path: string): RelatedAccess;
  resourcesOf(relation: Relation): readonly RelatedAccess[];
}

/** What the caller may see of the records that a relation refers to, through any of their resources. */
export async function visibleThrough(access: Referring, relation: Relation): Promise<Condition> {
  const views = await Promise.all(access.resourcesOf(relation).map((each) => each.relatedView()));
  return or(...views.map(({ visible }) => visible));
}

/** A path such as `/api/shops/7/products` leads to no record where the caller does not see shop 7. */
export async function belowVisible(access: Referring, view: View): Promise<View> {
  const parents: Condition[] = [];
  for (const { reference: relation } of access.resource.pathParameters.values()) {
    if (!relation) continue;
    const part = await visibleThrough(access, relation);
    if (!isEverything(part)) parents.push({ kind: 'related', relation, part });
  }
  return parents.length > 0 ? { ...view, visible: and(view.visible, ...parents) } : view;
}

const evaluated = new AsyncLocalStorage<ReadonlyMap<object, View>>();

/** The view of a related resource, where a transaction began with it. */
export const evaluatedView = (access: object): View | undefined => evaluated.getStore()?.get(access);

/**
 * Evaluates the scopes that a write may need, before its transaction. A scope that queries the database would wait for
 * a second connection of the pool there, and enough requests would wait for each other for ever.
 */
export async function withRelatedViews<R>(access: Referring, work: () => Promise<R>): Promise<() => Promise<R>> {
  const { schema, list } = access.resource;
  const linked = list.linkable.map(({ path }) => access.related(path));
  const referenced = schema.fields.flatMap(({ reference }) => (reference ? access.resourcesOf(reference) : []));
  const views = new Map<object, View>();
  for (const related of new Set([...linked, ...referenced]))
    if (related.resource.scope) views.set(related, await related.relatedView());
  return () => evaluated.run(views, work);
}
