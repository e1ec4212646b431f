/** Resources with those of their relations, as a document needs them: known before the application has started. */
import type { EntityMetadata } from 'typeorm';
import { optionsOf } from '../declare/declared-options.js';
import { defaultOptions, type ResolvedCrudOptions } from '../declare/resolve-options.js';
import { followedRelations, includedRelations } from '../plan/relation-parameters.js';
import { describeResource, type Resource } from '../plan/resource.js';
import type { Relation } from '../sql/condition.js';
import type { Database } from '../store/database.js';

export interface DescribedResource extends Resource<object> {
  /** The resources of the relations that requests follow, by path such as `comments.author`. */
  readonly relations: ReadonlyMap<string, DescribedResource>;
  /** The relations that answers may include in its records: of its own requests, and of those of other resources. */
  readonly included: ReadonlyMap<string, IncludedRelation>;
  readonly isIncluded: boolean;
}

export interface IncludedRelation {
  readonly relation: Relation;
  readonly related: DescribedResource;
}

interface Linked extends DescribedResource {
  readonly relations: Map<string, Linked>;
  readonly included: Map<string, { relation: Relation; related: Linked }>;
  isIncluded: boolean;
}

/** Scopes do not change what is described, and their providers may not exist yet. */
const ANY_SCOPE = { scope: () => true };

/** @throws InvalidOptionError where a declaration does not fit its data source */
export function describeResources(
  declared: readonly ResolvedCrudOptions[],
  databaseOf: (options: ResolvedCrudOptions) => Database,
): readonly DescribedResource[] {
  const link = (options: ResolvedCrudOptions, database: Database): Linked => ({
    ...describeResource(options, database, () => ANY_SCOPE),
    relations: new Map(),
    included: new Map(),
    isIncluded: false,
  });
  const resources = declared.map((options) => link(options, databaseOf(options)));
  const withoutResource = new Map<EntityMetadata, Linked>();
  const relatedOf = ({ options, database }: Linked, path: string, relation: Relation): Linked => {
    const { inverseEntityMetadata: metadata } = relation;
    const through = includedRelations(options).find((each) => each.relation === path)?.controller;
    const found = resources.find(
      (each) =>
        each.options.entity === metadata.target &&
        each.database.dataSource === database.dataSource &&
        (!through || each.options === optionsOf(through)),
    );
    if (found) return found;
    const known = withoutResource.get(metadata);
    const related = known ?? link(defaultOptions(metadata.target as ResolvedCrudOptions['entity']), database);
    withoutResource.set(metadata, related);
    return related;
  };
  for (const resource of resources) {
    for (const [path, [relation]] of followedRelations(resource.listWithDeleted))
      resource.relations.set(path, relatedOf(resource, path, relation));
    for (const { path, relation } of resource.listWithDeleted.includable.values()) {
      const parent = path.slice(0, -relation.propertyPath.length - 1);
      const owner = parent === '' ? resource : resource.relations.get(parent);
      const related = resource.relations.get(path);
      if (related) related.isIncluded = true;
      if (owner && related && !owner.included.has(relation.propertyPath))
        owner.included.set(relation.propertyPath, { relation, related });
    }
  }
  return resources;
}
