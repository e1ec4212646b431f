/** The compiled plan of a resource: everything a request needs that does not depend on the request. */
import type { Repository } from 'typeorm';
import { loadClassValidation } from '../../entities/class-validation.js';
import { compileInput } from '../../entities/record-input.js';
import type { ObserveError } from '../../http/failure.js';
import type { HttpRequest } from '../../http/request-facts.js';
import type { Application } from '../../routes/application.js';
import { observerOf } from '../../routes/failure-filter.js';
import type { Relation } from '../sql/condition.js';
import { createStore, type RecordStore } from '../store/record-store.js';
import { declaredParts, type PartName, type Resource } from './resource.js';
import { compileVariants, type Variant } from './variant.js';

export interface Plan<T extends object = object> extends Resource<T> {
  readonly store: RecordStore<T>;
  /** The parts of a view that vary with the caller, apart from roles. Without them, only statements are awaited. */
  readonly parts: readonly PartName[];
  variantFor(request: HttpRequest | undefined): Variant;
  /** The resources of the relations that requests follow, by path such as `comments.author`. */
  readonly relations: ReadonlyMap<string, Plan>;
  /** The resources of the records that a column refers to: one that is visible through any of them exists. */
  referenced(relation: Relation): readonly Plan[];
  readonly readBody: ReturnType<typeof compileInput>;
  /** Importing class-validator takes time, so the first write does it. */
  loadValidator(): ReturnType<typeof loadClassValidation>;
  readonly observeError: ObserveError;
}

export interface RelatedPlans {
  relations(): ReadonlyMap<string, Plan>;
  referenced(relation: Relation): readonly Plan[];
}

/** @param isStarted whether the subscribers of the data source are known, so that the store can be kept */
export function compilePlan<T extends object>(
  resource: Resource<T>,
  repository: Repository<T>,
  related: RelatedPlans,
  isStarted: () => boolean,
  application: Application,
): Plan<T> {
  let store: RecordStore<T> | undefined;
  let variants: ReturnType<typeof compileVariants> | undefined;
  let relations: ReadonlyMap<string, Plan> | undefined;
  const referenced = new Map<Relation, readonly Plan[]>();
  let validator: ReturnType<typeof loadClassValidation> | undefined;
  const linkNames = resource.list.linkable.map(({ name }) => name);
  const plan: Plan<T> = {
    ...resource,
    get store() {
      if (store) return store;
      const created = createStore(resource, repository, resource.database);
      if (isStarted()) store = created;
      return created;
    },
    parts: declaredParts(resource),
    variantFor: (request) => (variants ??= compileVariants(resource, plan.relations))(request),
    get relations() {
      return (relations ??= related.relations());
    },
    referenced(relation) {
      const known = referenced.get(relation) ?? related.referenced(relation);
      referenced.set(relation, known);
      return known;
    },
    readBody: compileInput(resource.schema, linkNames),
    loadValidator: () => (validator ??= loadClassValidation(resource.options.entity)),
    observeError: observerOf(application),
  };
  return Object.freeze(plan);
}
