/** The resources of one application. Through a relation, the scope and fields of the related entity's resource apply. */
import type { ModuleRef } from '@nestjs/core';
import type { DataSource, EntityMetadata, Repository } from 'typeorm';
import { describe, InvalidOptionError } from '../../options/invalid-option.js';
import { declarationOf, resourceFor } from './declared-resources.js';
import { operationsOn, type Operations } from '../operations/operations.js';
import type { RelatedAccess, RelatedAccesses } from '../operations/relation-views.js';
import { ResourceAccess } from '../operations/resource-access.js';
import type { Relation } from '../sql/condition.js';
import { undeclaredOptions, type ResolvedCrudOptions } from '../declare/resolve-options.js';
import { followedRelations, includedRelations, type RelationOption } from '../plan/relation-parameters.js';
import { describeResource } from '../plan/resource.js';

export interface RegisteredResource {
  readonly options: ResolvedCrudOptions;
  readonly dataSource: DataSource;
  /** The one that the controller reads through; `undefined` where it differs between requests. */
  readonly repository: Repository<object> | undefined;
}

export class ResourceRegistry {
  /** By repository, because a request-scoped controller may have another one for each request. */
  private readonly operations = new WeakMap<object, WeakMap<object, unknown>>();
  private readonly accesses = new WeakMap<object, RelatedAccess>();
  private readonly relations = new WeakMap<object, RelatedAccesses>();

  constructor(
    private readonly registered: readonly RegisteredResource[],
    private readonly moduleRef: ModuleRef,
  ) {}

  /** Made on first use: 500 resources would delay the start. */
  operationsFor<T extends object>(
    options: ResolvedCrudOptions<T>,
    dataSource: DataSource,
    repository: Repository<T>,
  ): Operations<T> {
    const own = this.operations.get(repository) ?? new WeakMap<object, unknown>();
    this.operations.set(repository, own);
    const known = own.get(options) as Operations<T> | undefined;
    if (known) return known;
    const resource = resourceFor(options, dataSource, this.moduleRef);
    const related = (): RelatedAccesses => this.relatedTo(options, dataSource);
    const referenced = (relation: Relation): RelatedAccess[] => this.referencedBy(options, relation, dataSource);
    const made = operationsOn(resource, repository, dataSource, related, referenced);
    own.set(options, made);
    return made;
  }

  /** @throws InvalidOptionError where it is not known which resource's scope applies to a relation */
  check({ options, dataSource }: RegisteredResource): void {
    for (const [path, [relation, option]] of followedRelations(resourceFor(options, dataSource, this.moduleRef).list))
      this.resourceOf(options, path, relation, option, dataSource);
  }

  private relatedTo(options: ResolvedCrudOptions, dataSource: DataSource): RelatedAccesses {
    const known = this.relations.get(options);
    if (known) return known;
    const followed = [...followedRelations(resourceFor(options, dataSource, this.moduleRef).list)];
    const accesses = new Map(
      followed.map(([path, [relation, option]]) => {
        const registered = this.resourceOf(options, path, relation, option, dataSource);
        const { inverseEntityMetadata } = relation;
        return [path, registered ? this.accessTo(registered) : this.accessToEntity(inverseEntityMetadata, dataSource)];
      }),
    );
    this.relations.set(options, accesses);
    return accesses;
  }

  /** Other than through an include, several resources may apply. */
  private referencedBy(options: ResolvedCrudOptions, relation: Relation, dataSource: DataSource): RelatedAccess[] {
    const { candidates } = this.resourcesOf(options, relation.propertyPath, relation, dataSource);
    if (candidates.length === 0) return [this.accessToEntity(relation.inverseEntityMetadata, dataSource)];
    return candidates.map((each) => this.accessTo(each));
  }

  /** Those that serve the related entity, or the one that the declaration names. */
  private resourcesOf(
    options: ResolvedCrudOptions,
    path: string,
    { inverseEntityMetadata: { target } }: Relation,
    dataSource: DataSource,
  ) {
    const through = includedRelations(options).find(({ relation, as }) => as && relation === path)?.as;
    const candidates = this.registered.filter(
      (each) =>
        each.options.entity === target &&
        each.dataSource === dataSource &&
        (!through || each.options === declarationOf(through)),
    );
    return { through, candidates };
  }

  /** `undefined` where no resource serves the related entity. */
  private resourceOf(
    options: ResolvedCrudOptions,
    path: string,
    relation: Relation,
    option: RelationOption,
    dataSource: DataSource,
  ): RegisteredResource | undefined {
    const { name } = relation.inverseEntityMetadata;
    const refuse = (expected: string, got: string, advice: string): never => {
      throw new InvalidOptionError(`CRUD option \`${option}\` of ${options.entity.name}`, expected, got, advice);
    };
    const { through, candidates } = this.resourcesOf(options, path, relation, dataSource);
    const [first, ...others] = candidates;
    if (through && !first)
      refuse(`relations through registered controllers of ${name}`, describe(through), 'name one of them in `as`');
    if (others.length > 0) {
      const advice = `name the one that applies: includableRelations: [{ relation: "${path}", as: … }]`;
      refuse('relations to entities with one resource', `"${path}", for ${name} has several`, advice);
    }
    if (first && !first.repository)
      refuse('relations to entities whose repository is the same for all requests', describe(path), 'leave it out');
    return first;
  }

  private accessTo({ options, dataSource, repository }: RegisteredResource): RelatedAccess {
    return this.accessOnce(options, () => {
      const related = (): RelatedAccesses => this.relatedTo(options, dataSource);
      return new ResourceAccess(
        resourceFor(options, dataSource, this.moduleRef),
        repository ?? dataSource.getRepository<object>(options.entity),
        dataSource,
        related,
      );
    });
  }

  /** To an entity without a resource: every readable column, and no scope. */
  private accessToEntity(metadata: EntityMetadata, dataSource: DataSource): RelatedAccess {
    return this.accessOnce(metadata, () => {
      const options = undeclaredOptions(metadata.target as ResolvedCrudOptions['entity']);
      const repository = dataSource.getRepository(options.entity);
      return new ResourceAccess(describeResource(options, dataSource), repository, dataSource, () => new Map());
    });
  }

  private accessOnce(owner: object, make: () => RelatedAccess): RelatedAccess {
    const known = this.accesses.get(owner) ?? make();
    this.accesses.set(owner, known);
    return known;
  }
}
