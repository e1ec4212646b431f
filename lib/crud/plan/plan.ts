/** The compiled plan of a resource, everything that does not depend on the request, and the task that a call adds to it. */
import { NotFoundException } from '@nestjs/common';
import type { Repository } from 'typeorm';
import { sentTransformer } from '../../entities/class-transformer.js';
import { loadClassValidation } from '../../entities/class-validation.js';
import { guardOf } from '../../entities/entity-guard.js';
import type { Field } from '../../entities/entity-schema.js';
import { compileInput } from '../../entities/record-input.js';
import type { FailureTools, ObserveError } from '../../http/failure.js';
import { principalsOf, storedUserOf } from '../../http/caller.js';
import { AccessRefused, AuthenticationRequired } from '../../http/refusal.js';
import type { HttpRequest } from '../../http/http-request.js';
import type { Application } from '../../routes/application.js';
import { failureToolsOf, observerOf } from '../../routes/failure-filter.js';
import type { Deleted } from '../query/parameters.js';
import { isOwn } from '../rows/owner.js';
import { conditionOfWhere } from '../rows/where-condition.js';
import { memoized } from '../../http/bounded-map.js';
import { and, compare, isEverything, or, keyIs } from '../sql/condition.js';
import type { Condition, Relation, WritePrecondition } from '../sql/condition.js';
import type { Call } from '../store/call.js';
import { createStore, type RecordStore } from '../store/record-store.js';
import { compileViews, type CallerView, type CallerViews } from './caller-views.js';
import { reservedKeys } from './reserved-keys.js';
import type { Resource } from './resource.js';

export interface Plan extends Resource {
  readonly store: RecordStore;
  /** The parts of a view that vary with the caller, apart from roles. Without them, only statements are awaited. */
  readonly rowRules: readonly RowRule[];
  viewsFor(request: HttpRequest | undefined): CallerViews;
  /** The resources of the relations that requests follow, by path such as `comments.author`. */
  readonly relations: ReadonlyMap<string, Plan>;
  /** The resources of the records that a column refers to: one that is visible through any of them exists. */
  referenced(relation: Relation): readonly Plan[];
  readonly readBody: ReturnType<typeof compileInput>;
  readonly transformSent: ReturnType<typeof sentTransformer>;
  /** Importing class-validator takes time, so the first write does it. */
  loadValidator(): ReturnType<typeof loadClassValidation>;
  /** The texts that no key of a record may have. */
  readonly reservedKeys: ReadonlySet<string>;
  readonly observeError: ObserveError;
  failureTools(): FailureTools;
}

/** The call of an operation on a resource, and what its caller may see and change there. */
export interface Task {
  readonly plan: Plan;
  readonly call: Call;
  readonly operation: string;
  readonly view: CallerView;
}

export interface Addition {
  readonly conditions?: readonly Condition[];
  readonly isScoped?: boolean;
  readonly preconditions?: readonly WritePrecondition[];
  readonly fixed?: CallerView['fixed'];
}

export interface RowRule {
  /** Only the scope and the owner count in relations of other resources, whose records have no path. */
  readonly kind: 'path' | 'scope' | 'owner' | 'standing' | 'parents';
  add(task: Task): Addition | Promise<Addition>;
}

/** The first one that refuses a request decides the answer. */
function rowRulesOf(resource: Resource): readonly RowRule[] {
  const { options, metadata, schema, database, pathParameters, scope, owner } = resource;
  const path: RowRule = {
    kind: 'path',
    add({ call }) {
      const fixed = pathValues(schema.name, pathParameters, call.request);
      return { fixed, conditions: [...fixed].map(([field, value]) => compare(field, 'eq', value)) };
    },
  };
  const scoped: RowRule | undefined = scope && {
    kind: 'scope',
    async add({ call, operation }) {
      const conditions: Condition[] = [];
      for (const user of principalsOf(call.request))
        conditions.push(conditionOfWhere(await scope({ user, operation }), metadata, database));
      return { conditions, isScoped: !conditions.every(isEverything) };
    },
  };
  const owned: RowRule | undefined = owner && {
    kind: 'owner',
    add({ call, view }) {
      if (!view.isOwnerBound) return {};
      const condition = isOwn(owner, call.request);
      const preconditions = [{ condition, refuse: () => new AccessRefused(['OWNER']) }];
      return { preconditions, conditions: owner.reads ? [condition] : [] };
    },
  };
  const guard = guardOf(options.entity);
  // A caller who is dismissed while the request is handled must not undo it.
  const standing: RowRule | undefined = guard && {
    kind: 'standing',
    add({ call }) {
      const user = storedUserOf(call.request);
      const id = user && schema.key.readText(String(user.id));
      if (!id || !('value' in id)) return {};
      const values = guard.standing(user.roles[0]);
      const columns = schema.fields.filter(({ name }) => Object.hasOwn(values, name));
      const stands = and(...columns.map((field) => compare(field, 'eq', values[field.name])));
      const condition = or({ kind: 'unless', part: keyIs(schema.key, id.value) }, stands);
      return { preconditions: [{ condition, refuse: () => new AuthenticationRequired(true) }] };
    },
  };
  const fromPath = new Set(pathParameters.values());
  const relations = schema.references.flatMap(({ relation, fields }) =>
    fields.every((field) => fromPath.has(field)) ? [relation] : [],
  );
  // A path such as `/api/shops/7/products` leads to no record where the caller does not see shop 7.
  const parents: RowRule = {
    kind: 'parents',
    async add({ plan, call }) {
      const conditions: Condition[] = [];
      for (const relation of relations) {
        const part = await visibleThrough(plan, call, relation);
        if (!isEverything(part)) conditions.push({ kind: 'related', relation, part });
      }
      return { conditions };
    },
  };
  const declared = [pathParameters.size > 0 && path, scoped, owned, standing, relations.length > 0 && parents];
  return declared.filter((rule) => rule !== undefined && rule !== false);
}

/**
 * Synchronous if the resource declares no parts.
 * @throws 404 where the path has a parameter that is none; what the scope throws
 */
export function beginTask(
  plan: Plan,
  call: Call,
  operation: string,
  deleted: Deleted = 'without',
): Task | Promise<Task> {
  const task = { plan, call, operation, view: plan.viewsFor(call.request)[deleted] };
  return plan.rowRules.length === 0 ? task : withRowRules(plan.rowRules, task);
}

async function withRowRules(rules: readonly RowRule[], task: Task): Promise<Task> {
  const additions: Addition[] = [];
  for (const rule of rules) additions.push(await rule.add(task));
  const view = {
    ...task.view,
    visible: and(...additions.flatMap(({ conditions = [] }) => conditions), task.view.visible),
    isScoped: additions.some(({ isScoped }) => isScoped),
    preconditions: additions.flatMap(({ preconditions = [] }) => preconditions),
    fixed: additions.find(({ fixed }) => fixed)?.fixed ?? task.view.fixed,
  };
  return { ...task, view };
}

/** The condition for the records that the caller sees through relations of other resources. Evaluated once for a call. */
export async function relatedVisible(plan: Plan, call: Call): Promise<Condition> {
  const known = call.visible.get(plan);
  if (known) return known;
  const rules = plan.rowRules.filter(({ kind }) => kind === 'scope' || kind === 'owner');
  const task = { plan, call, operation: 'findAll', view: plan.viewsFor(call.request).without };
  const { visible } = (await withRowRules(rules, task)).view;
  call.visible.set(plan, visible);
  return visible;
}

/** The condition for the records of a relation that the caller sees through any of their resources. */
export async function visibleThrough(plan: Plan, call: Call, relation: Relation): Promise<Condition> {
  const conditions = await Promise.all(plan.referenced(relation).map((each) => relatedVisible(each, call)));
  return or(...conditions);
}

/**
 * The value of each field that an endpoint such as `/api/shops/:shopId/products` names.
 * @throws 404 for a value that is none for its column
 */
function pathValues(name: string, parameters: ReadonlyMap<string, Field>, request: HttpRequest | undefined) {
  const values = new Map<Field, unknown>();
  for (const [parameter, field] of parameters) {
    const given = request?.params?.[parameter];
    if (given === undefined) {
      const advice = `run them by runAs(user, work, { path: { ${parameter}: … } })`;
      throw new TypeError(`${name} is served below :${parameter}: its operations need a value for it; ${advice}`);
    }
    const reading = typeof given === 'string' ? field.type.readText(given) : field.type.read(given);
    if (!('value' in reading)) throw new NotFoundException(`No ${name} exists at this path`);
    values.set(field, reading.value);
  }
  return values;
}

export interface RelatedPlans {
  readonly relations: () => ReadonlyMap<string, Plan>;
  readonly referenced: (relation: Relation) => readonly Plan[];
}

/** @param isStarted whether the subscribers of the data source are known, so that the store can be kept */
export function compilePlan(
  resource: Resource,
  repository: Repository<object>,
  related: RelatedPlans,
  isStarted: () => boolean,
  application: Application,
): Plan {
  let store: RecordStore | undefined;
  let views: ReturnType<typeof compileViews> | undefined;
  let relations: ReadonlyMap<string, Plan> | undefined;
  let validator: ReturnType<typeof loadClassValidation> | undefined;
  let reserved: ReadonlySet<string> | undefined;
  const plan: Plan = {
    ...resource,
    get store() {
      if (store) return store;
      const created = createStore(resource, repository);
      if (isStarted()) store = created;
      return created;
    },
    rowRules: rowRulesOf(resource),
    viewsFor: (request) => (views ??= compileViews(resource, plan.relations))(request),
    get relations() {
      return (relations ??= related.relations());
    },
    referenced: memoized(related.referenced),
    readBody: compileInput(
      resource.schema,
      resource.list.linkable.map(({ name }) => name),
    ),
    transformSent: sentTransformer(resource.options.entity),
    loadValidator: () => (validator ??= loadClassValidation(resource.options.entity)),
    get reservedKeys() {
      return (reserved ??= reservedKeys(resource.options.endpoint, application.routeTable.routes));
    },
    observeError: observerOf(application),
    failureTools: () => failureToolsOf(application),
  };
  return Object.freeze(plan);
}
