/** Resources with those of their relations, as a document needs them: known before the application has started. */
import type { EntityMetadata } from 'typeorm';
import type { RefineSchema } from '../../entities/class-validation.js';
import { optionsOf } from '../declare/declared-options.js';
import { defaultOptions, type ResolvedCrudOptions } from '../declare/resolve-options.js';
import { includedRelations } from '../plan/relation-parameters.js';
import { describeResource, type Resource } from '../plan/resource.js';
import type { Relation } from '../sql/condition.js';
import type { Database } from '../store/database.js';
import { nameResources, type ResourceNames } from './names.js';

export interface DescribedResource extends Resource<object> {
  readonly refine: RefineSchema;
  /** They depend on those of the other resources. */
  names: ResourceNames;
  /** The resources of the relations that its requests may include, by path such as `comments.author`. */
  readonly relations: Map<string, DescribedResource>;
  /** The relations that answers may include in its records: of its own requests, and of those of other resources. */
  readonly included: Map<string, IncludedRelation>;
  isIncluded: boolean;
}

interface IncludedRelation {
  readonly relation: Relation;
  readonly related: DescribedResource;
}

/** Scopes do not change what is described, and their providers may not exist yet. */
const ANY_SCOPE = { scope: () => true };

/** @throws InvalidOptionError where a declaration does not fit its data source */
export function describeResources(
  declared: readonly ResolvedCrudOptions[],
  databaseOf: (options: ResolvedCrudOptions) => Database,
  refinementOf: (entity: Function) => RefineSchema,
): ReadonlyMap<ResolvedCrudOptions, DescribedResource> {
  const link = (options: ResolvedCrudOptions, database: Database): DescribedResource => ({
    ...describeResource(options, database, () => ANY_SCOPE),
    names: { one: '', many: '', tag: '' },
    refine: refinementOf(options.entity),
    relations: new Map(),
    included: new Map(),
    isIncluded: false,
  });
  const resources = declared.map((options) => link(options, databaseOf(options)));
  const withoutResource = new Map<EntityMetadata, DescribedResource>();
  const relatedOf = ({ options, database }: DescribedResource, path: string, relation: Relation): DescribedResource => {
    const { inverseEntityMetadata: metadata } = relation;
    const through = includedRelations(options).find((each) => each.relation === path)?.controller;
    const found = resources.find(
      (each) =>
        each.options.entity === metadata.target &&
        each.database === database &&
        (!through || each.options === optionsOf(through)),
    );
    if (found) return found;
    const known = withoutResource.get(metadata);
    const related = known ?? link(defaultOptions(metadata.target as ResolvedCrudOptions['entity']), database);
    withoutResource.set(metadata, related);
    return related;
  };
  for (const resource of resources)
    for (const { path, relation } of resource.listWithDeleted.includable.values()) {
      const name = relation.propertyPath;
      const related = relatedOf(resource, path, relation);
      const owner = resource.relations.get(path.slice(0, -name.length - 1)) ?? resource;
      resource.relations.set(path, related);
      related.isIncluded = true;
      if (!owner.included.has(name)) owner.included.set(name, { relation, related });
    }
  const others = resources.flatMap(reachableFrom).filter((each) => !resources.includes(each));
  for (const [resource, names] of nameResources(resources, others)) resource.names = names;
  return new Map(resources.map((each) => [each.options, each]));
}

/** The resources whose records an answer may include, directly or through others. */
export function reachableFrom(resource: DescribedResource): DescribedResource[] {
  const found = new Set([resource]);
  for (const each of found) for (const { related } of each.included.values()) found.add(related);
  found.delete(resource);
  return [...found];
}
