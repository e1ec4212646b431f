/** What the caller of an operation may see of the records that columns of the resource refer to. */
import type { Field } from '../../entities/entity-schema.js';
import { and, isEverything, or, type Condition, type Relation } from '../query/condition.js';
import type { View } from '../rows/view.js';
import type { RelatedAccess } from './relation-views.js';

interface Referring {
  readonly resource: { readonly pathParameters: ReadonlyMap<string, Field> };
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
