/** The generated resources of one application, with everything that is kept for them. */
import type { Abstract, Type } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { getDataSourceToken, getRepositoryToken } from '@nestjs/typeorm';
import { Repository, type DataSource, type EntityMetadata } from 'typeorm';
import { ConnectionQueues } from '../../database/connections.js';
import { assertServes, guardOf } from '../../entities/entity-guard.js';
import { describe, InvalidOptionError } from '../../options/invalid-option.js';
import { CallerRoles } from '../../http/caller.js';
import { applicationOf, type Application } from '../../routes/application.js';
import { groupBy } from '../../routes/route.js';
import { optionsOf } from '../declare/declared-options.js';
import type { ResolvedCrudModuleOptions } from '../declare/filter-operators.js';
import { HOOK_NAMES } from '../declare/generated-hooks.js';
import { defaultOptions, refuseOption, type ResolvedCrudOptions } from '../declare/resolve-options.js';
import { compilePlan, type Plan, type RelatedPlans } from '../plan/plan.js';
import { followedRelations, type RelationOption } from '../plan/list-parameters.js';
import { assertKnown, compileResource, describeResource, servingRelation, type Resource } from '../plan/resource.js';
import { memoized } from '../../http/bounded-map.js';
import type { Relation } from '../sql/condition.js';
import { assertReadable } from '../store/record-store.js';
import { Database } from '../store/database.js';

export type CrudControllerClass = Abstract<object>;
type Container = Pick<ModuleRef, 'get'>;

/** What Nest injects into generated controllers, as properties, so that a subclass's constructor is its own. */
export const DATA_SOURCE = Symbol('declarest.dataSource');
export const REPOSITORY = Symbol('declarest.repository');

/** The provider of `CrudModule.forRoot`. */
export const MODULE_OPTIONS = Symbol('declarest.moduleOptions');

const NO_OPTIONS: ResolvedCrudModuleOptions = { operators: [], ignoredParameters: new Set() };

/** A resource, and the repository of its controller; `undefined` where it differs between requests. */
interface Registered {
  readonly resource: Resource;
  readonly repository: Repository<object> | undefined;
}

export class CrudApplication {
  /** Whether all providers have had the time to add subscribers to the data source. */
  isStarted = false;
  /** Plans by repository: a request-scoped controller may have another one for each request. */
  private readonly plans = new WeakMap<object, Map<object, Plan>>();
  private registered: readonly Registered[] | undefined;
  private readonly application: Application;

  constructor(private readonly container: Container) {
    this.application = applicationOf(container);
  }

  /** The options of `CrudModule.forRoot`. @throws InvalidOptionError where it is called twice */
  private get options(): ResolvedCrudModuleOptions {
    const modules = [...this.application.modules.values()];
    const [first, second] = modules.flatMap(({ providers }) => providers.get(MODULE_OPTIONS) ?? []);
    if (second) throw new InvalidOptionError('CrudModule.forRoot', 'called once', 'twice', 'give one call all options');
    return (first?.instance ?? NO_OPTIONS) as ResolvedCrudModuleOptions;
  }

  /** The resources of all generated controllers. @throws InvalidOptionError where one does not fit its data source */
  get all(): readonly Resource[] {
    return this.registrations.map(({ resource }) => resource);
  }

  planOfController(controller: CrudControllerClass): Plan {
    const options = optionsOf(controller);
    return this.planOf(this.registrations.find(({ resource }) => resource.options === options) as Registered);
  }

  /** What a resource is must not depend on the transaction of its first request. */
  prepareStores(): void {
    for (const each of this.registrations) void this.planOf(each).store;
  }

  get controllers(): CrudControllerClass[] {
    const classes = new Set(this.wrappers.map(({ metatype }) => metatype as CrudControllerClass));
    return [...classes].filter((controller) => optionsOf(controller) !== undefined);
  }

  /** Request-scoped controllers: Nest does not create them before it registers their routes. */
  get requestScoped(): CrudControllerClass[] {
    const scoped = this.wrappers.filter((each) => !each.isDependencyTreeStatic());
    return this.controllers.filter((controller) => scoped.some(({ metatype }) => metatype === controller));
  }

  planFor(options: ResolvedCrudOptions, dataSource: DataSource, given?: Repository<object>): Plan {
    const repository = given ?? this.databaseFor(dataSource).repositoryOf(options.entity);
    const own = this.plans.get(repository) ?? new Map<object, Plan>();
    this.plans.set(repository, own);
    const plan = own.get(options) ?? this.compile(this.resourceOf(options, dataSource), repository);
    own.set(options, plan);
    return plan;
  }

  /** @throws InvalidOptionError for repositories and relations that generated operations cannot read through */
  check(): void {
    this.checkPools();
    for (const { resource, repository } of this.registrations) {
      if (repository) assertReadable(repository, resource.options.entity);
      for (const [path, [relation, option]] of followedRelations(resource.list))
        this.relatedResource(resource, path, relation, option);
    }
  }

  /** @throws InvalidOptionError where hooks or scopes could wait for a second connection of a pool that has one */
  private checkPools(): void {
    for (const controller of this.controllers) {
      const options = optionsOf(controller) as ResolvedCrudOptions;
      const hook = HOOK_NAMES.find((name) => !name.startsWith('after') && name in (controller.prototype as object));
      const user = options.scope ? 'the option `scope`' : hook && `the hook ${hook}`;
      if (!user || !this.databaseOf(options).connections.isPoolOfOne) continue;
      const expected = `at least 2, because ${controller.name} has ${user}`;
      throw new InvalidOptionError('`poolSize` of the data source', expected, '1', 'raise `poolSize`');
    }
  }

  readonly databaseOf = (options: ResolvedCrudOptions): Database => this.databaseFor(this.dataSourceOf(options));

  /** The databases of a document, which does not wait until the startup checks have read their columns. */
  unreadDatabases(): (options: ResolvedCrudOptions) => Database {
    const create = memoized((dataSource: DataSource) => this.createDatabase(dataSource));
    return (options) => create(this.dataSourceOf(options));
  }

  private dataSourceOf(options: ResolvedCrudOptions): DataSource {
    return assertKnown(options, this.find<DataSource>(getDataSourceToken(options.dataSource) as string));
  }

  private get registrations(): readonly Registered[] {
    const byOptions = () => groupBy(this.wrappers, ({ metatype }) => optionsOf(metatype as object));
    return (this.registered ??= [...byOptions()].flatMap(([options, wrappers]) => {
      if (!options) return [];
      const { dataSource } = this.databaseOf(options);
      const repository = this.repositoryOf(options, dataSource, wrappers);
      return [{ resource: this.resourceOf(options, dataSource), repository }];
    }));
  }

  get wrappers() {
    return [...this.application.modules.values()].flatMap(({ controllers }) => [...controllers.values()]);
  }

  private find<P>(token: string | Type<P>): P | undefined {
    try {
      return this.container.get<P>(token, { strict: false });
    } catch {
      return undefined;
    }
  }

  /** The one that Nest injected into the controller, or would inject into a request-scoped one. */
  private repositoryOf(options: ResolvedCrudOptions, dataSource: DataSource, wrappers: CrudApplication['wrappers']) {
    const own = this.databaseFor(dataSource).repositoryOf(options.entity);
    const isStatic = wrappers.find((each) => each.isDependencyTreeStatic());
    if (isStatic) {
      const { [REPOSITORY]: injected } = isStatic.instance as { readonly [REPOSITORY]?: Repository<object> };
      return injected ?? own;
    }
    const token = getRepositoryToken(options.entity, options.dataSource) as string;
    const provided = [...this.application.modules.values()].flatMap(({ providers }) => providers.get(token) ?? []);
    const found = provided.filter((each) => each.isDependencyTreeStatic()).map(({ instance }) => instance as unknown);
    for (const each of found) if (each instanceof Repository) assertServes(each, options.entity);
    return provided.length === 0 ? own : (found[0] as Repository<object>);
  }

  private readonly resourceOf = memoized((options: ResolvedCrudOptions, dataSource: DataSource) =>
    compileResource(options, this.databaseFor(dataSource), (provider) => this.find(provider)),
  );

  private readonly databaseFor = memoized((dataSource: DataSource) => this.createDatabase(dataSource));

  private createDatabase(dataSource: DataSource): Database {
    const connections = this.application.stateOf(ConnectionQueues).connectionsOf(dataSource);
    const { operators, ignoredParameters } = this.options;
    const roles = this.application.stateOf(CallerRoles);
    return new Database(dataSource, connections, roles, operators, ignoredParameters);
  }

  private compile(resource: Resource, repository: Repository<object>): Plan {
    const { database } = resource;
    const planThrough = ([path, [relation, option]]: [string, [Relation, RelationOption]]): [string, Plan] => {
      const registered = this.relatedResource(resource, path, relation, option);
      return [path, registered ? this.planOf(registered) : this.planOfEntity(relation.inverseEntityMetadata, database)];
    };
    const related: RelatedPlans = {
      relations: () => new Map([...followedRelations(resource.list)].map(planThrough)),
      // Other than through an include, several resources may apply.
      referenced: (relation) => {
        const { serves } = servingRelation(resource, relation.propertyPath, relation);
        const candidates = this.registrations.filter((each) => serves(each.resource));
        if (candidates.length === 0) return [this.planOfEntity(relation.inverseEntityMetadata, database)];
        return candidates.map((each) => this.planOf(each));
      },
    };
    return compilePlan(resource, repository, related, () => this.isStarted, this.application);
  }

  private planOf({ resource: { options, database }, repository }: Registered): Plan {
    return this.planFor(options, database.dataSource, repository);
  }

  /** The resource of an entity that has none: every readable column, and no scope. */
  private readonly planOfEntity = memoized((metadata: EntityMetadata, database: Database): Plan => {
    const options = defaultOptions(metadata.target as ResolvedCrudOptions['entity']);
    const repository = database.repositoryOf(options.entity);
    return this.compile(describeResource(options, database), repository);
  });

  private relatedResource(resource: Resource, path: string, relation: Relation, option: RelationOption) {
    const { name } = relation.inverseEntityMetadata;
    const refuse = (expected: string, got: string, advice: string): never =>
      refuseOption(resource.options, option, expected, got, advice);
    const { through, serves } = servingRelation(resource, path, relation);
    const [first, ...others] = this.registrations.filter((each) => serves(each.resource));
    if (through && !first) {
      const advice = `register it with CrudModule.forFeature, or name another controller of ${name}`;
      refuse(`relations with a \`controller\` that is registered and serves ${name}`, describe(through), advice);
    }
    if (!first && guardOf(relation.inverseEntityMetadata.target)) {
      const advice = `declare a resource of ${name}, which says what a caller may read of it, or leave the relation out`;
      refuse(`relations to entities with a resource, as ${name} holds accounts`, `"${path}"`, advice);
    }
    if (others.length > 0) {
      const advice = `name the one that applies: includableRelations: [{ relation: "${path}", controller: … }]`;
      refuse('relations to entities with one resource', `"${path}", for ${name} has several`, advice);
    }
    if (first && !first.repository)
      refuse('relations to entities whose repository is the same for all requests', describe(path), 'leave it out');
    const { scope, owner } = first?.resource ?? {};
    // An order has no condition: it would tell of related records that the caller does not see.
    const isHiding = scope || owner?.reads || resource.database.describe(relation.inverseEntityMetadata).discriminator;
    if (option === 'sortableFields' && (isHiding || !(relation.isManyToOne || relation.isOneToOne)))
      refuse('to-one relations to records that every caller sees', describe(path), 'leave its fields out');
    return first;
  }
}

/** A provider may call a controller before the startup checks. */
export const crudApplicationOf = (container: Container): CrudApplication =>
  applicationOf(container).stateOf(CrudApplication, container);
