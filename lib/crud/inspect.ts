/** What the access table, the command line and tests read of generated resources. They know nothing else of lib/crud. */
import type { ModuleRef } from '@nestjs/core';
import { schemaRefinements } from '../entities/class-validation.js';
import type { Field } from '../entities/entity-schema.js';
import { setRoleHierarchy, type Principal } from '../http/caller.js';
import type { HttpRequest } from '../http/http-request.js';
import type { CustomOperation } from './declare/custom-operation.js';
import { HOOK_NAMES } from './declare/generated-hooks.js';
import { CREATIONS, type OperationDeclaration } from './declare/operations.js';
import { rolesOf } from './declare/resolve-options.js';
import { ScopeReference } from './declare/scope.js';
import { describeForCaller, describeResources, reachableFrom } from './document/described-resource.js';
import type { DescribedResource } from './document/described-resource.js';
import { crudApplicationOf, type CrudControllerClass } from './nest/crud-application.js';
import { overridesOf } from './nest/declaration-warnings.js';
import { documentOf } from './nest/describe-controllers.js';
import { prototypesOf } from './nest/routes.js';
import type { Operation } from './operations/operation.js';
import { standardOperations } from './operations/standard-operations.js';
import type { CallerView } from './plan/caller-views.js';
import { relatedVisible, type Plan, type RowRule } from './plan/plan.js';
import { relationPath } from './plan/list-parameters.js';
import { run } from './read/run-with-retries.js';
import { isOwn } from './rows/owner.js';
import { and, compare, keyIs, or, type Comparison, type Condition } from './sql/condition.js';
import { OPERATORS, type OperatorName } from './sql/operators.js';
import { NO_OPERATION, type Call } from './store/call.js';

export type { CallerView, CallerViews } from './plan/caller-views.js';
export type { Plan, RowRule } from './plan/plan.js';
export type { ListParameters } from './query/list-query.js';
export type { Comparison, Condition } from './sql/condition.js';
export type { Call } from './store/call.js';
export { escapePath } from './sql/dialect.js';
export { and, compare, relatedVisible, relationPath };

/** What an operation does with records: the owner may let others read what they cannot change. */
export type Effect = 'read' | 'create' | 'change';

export interface InspectedOperation {
  readonly controller: CrudControllerClass;
  readonly plan: Plan;
  readonly name: string;
  /** Below the path of its controller. */
  readonly path: string;
  readonly takesId: boolean;
  readonly effect: Effect;
  /** `read` answers records, `count` something else about them. A write has its name; `patchMany` that of `update`. */
  readonly action: string;
  readonly isStandard: boolean;
  readonly undoes: boolean;
  /** The override of the application, or its own operation. */
  readonly code: { readonly name: string; readonly code: object } | undefined;
}

export interface InspectedController {
  readonly plan: Plan;
  readonly operations: readonly InspectedOperation[];
  readonly hooks: readonly (readonly [name: string, code: object])[];
}

export function inspectControllers(moduleRef: ModuleRef): ReadonlyMap<CrudControllerClass, InspectedController> {
  const crud = crudApplicationOf(moduleRef);
  return new Map(
    crud.controllers.map((controller) => {
      const plan = crud.planOfController(controller);
      const operations = plan.options.knownOperations.map((each) => inspectOperation(controller, plan, each));
      return [controller, { plan, operations, hooks: hooksOf(controller) }];
    }),
  );
}

const isStandard = (operation: unknown): boolean => (standardOperations as readonly unknown[]).includes(operation);

function inspectOperation(controller: CrudControllerClass, plan: Plan, operation: OperationDeclaration) {
  const { name, route, undoes } = operation;
  const effect = route.verb === 'GET' ? 'read' : CREATIONS.some((each) => each === name) ? 'create' : 'change';
  const override = overridesOf(controller).find((each) => each.operation === operation);
  const custom = plan.options.operations?.find(
    (each): each is CustomOperation => typeof each === 'object' && each.name === name && !isStandard(each),
  );
  const code = override ? { name: override.path, code: override.method } : custom && { name, code: custom.run };
  const { data } = (operation as Operation).description;
  // Without data, the answer is a file of records.
  const read = typeof data !== 'object' && typeof data !== 'function' ? 'read' : 'count';
  return {
    controller,
    plan,
    name,
    path: route.path,
    takesId: route.takes.includes('id'),
    effect,
    action: effect === 'read' ? read : originalOf(operation, plan).name,
    isStandard: isStandard(operation),
    undoes: undoes !== undefined,
    code,
  } as const;
}

function originalOf(operation: OperationDeclaration, plan: Plan): OperationDeclaration {
  const original = plan.options.knownOperations.find(({ name }) => name === operation.copyOf);
  return original ? originalOf(original, plan) : operation;
}

const hooksOf = (controller: CrudControllerClass): [string, object][] =>
  HOOK_NAMES.flatMap((name) =>
    prototypesOf(controller).flatMap((owner): [string, object][] => {
      const hook = Object.getOwnPropertyDescriptor(owner, name)?.value as object | undefined;
      return hook ? [[name, hook]] : [];
    }),
  );

/** The roles that the options of a resource name. */
export const rolesIn = ({ options }: Plan): readonly string[] => rolesOf(options);

/** The function of the option `scope`, or its provider. */
export function scopeCodeOf({
  options: { scope },
}: Plan): { readonly name?: string; readonly code: object } | undefined {
  return scope instanceof ScopeReference
    ? { name: scope.provider.name, code: scope.provider }
    : scope && { code: scope };
}

/** The call of a request that is not sent. @param user `undefined` for a caller without a token */
export function callAs(
  user: Principal | undefined,
  expand: (roles: readonly string[]) => readonly string[],
  params: HttpRequest['params'] = {},
): Call {
  const request = { method: 'GET', headers: {}, params, user } as unknown as HttpRequest;
  setRoleHierarchy(request, expand);
  return { ...NO_OPERATION, state: undefined, request, transaction: undefined, writes: false, visible: new Map() };
}

/** The view by which an operation finds records: also deleted ones that it may restore or remove for good. */
export function viewOf({ plan, name, undoes }: InspectedOperation, { request }: Call): CallerView {
  const views = plan.viewsFor(request);
  return undoes || (name === 'delete' && views.without.list.choosesDeleted) ? views.with : views.without;
}

/** What a rule says of the rows that a call reaches, and of those among them that it may change. */
export interface RuleConditions {
  readonly reached: readonly Condition[];
  readonly changed: readonly Condition[];
}

/** @throws what the scope throws */
export async function evaluateRule(
  rule: RowRule,
  { plan, name: operation }: Pick<InspectedOperation, 'plan' | 'name'>,
  call: Call,
): Promise<RuleConditions> {
  const view = plan.viewsFor(call.request).without;
  const { conditions = [], preconditions = [] } = await rule.add({ plan, call, operation, view });
  return { reached: conditions, changed: preconditions.map(({ condition }) => condition) };
}

/** The records that hold the id of the caller in the field of the owner. */
export const ownedBy = ({ owner }: Plan, { request }: Call): Condition | undefined =>
  owner?.claim === 'id' ? isOwn(owner, request) : undefined;

/** The record with this id; a text for one that is no id of the resource, such as `an integer`. */
export function recordWith(id: string, { schema: { key } }: Plan): Condition | string {
  const read = key.readText(id);
  return 'value' in read ? keyIs(key, read.value) : read.expected;
}

export async function exists(plan: Plan, call: Call, ...conditions: readonly Condition[]): Promise<boolean> {
  return (await run(plan, call, (within) => plan.store.reader.count(within, and(...conditions)))) > 0;
}

export const findRecords = (plan: Plan, call: Call, conditions: readonly Condition[], fields: readonly Field[]) =>
  run(plan, call, (within) => plan.store.reader.find(within, { condition: and(...conditions), fields, sort: [] }));

/** The comparisons with single values that stand for `in`, `nin` or `between`; `undefined` for another operator. */
export function singleComparisons({ field, operator, values }: Comparison): Condition | undefined {
  const compareEach = (name: OperatorName, all = values) => all.map((value) => compare(field, name, value));
  if (operator === OPERATORS.in) return or(...compareEach('eq'));
  if (operator === OPERATORS.nin) return and(...compareEach('ne'));
  if (operator !== OPERATORS.between) return undefined;
  return and(...compareEach('gte', values.slice(0, 1)), ...compareEach('lte', values.slice(1)));
}

/** The documents of generated controllers, by the fields that every caller and the caller of a request may name. */
export async function documentControllers(moduleRef: ModuleRef) {
  const crud = crudApplicationOf(moduleRef);
  const plans = crud.controllers.map((each) => [each, crud.planOfController(each)] as const);
  const byOptions = new Map(plans.map(([, plan]) => [plan.options, plan]));
  const resources = describeResources([...byOptions.keys()], crud.databaseOf, schemaRefinements());
  const reachable = new Set([...resources.values()].flatMap(reachableFrom));
  const documentAll = (narrow: (resource: DescribedResource) => DescribedResource) => {
    const narrowed = ({ options }: Plan) => narrow(resources.get(options) as DescribedResource);
    return new Map(plans.map(([controller, plan]) => [controller, documentOf(controller, narrowed(plan))]));
  };
  return {
    forAll: documentAll((resource) => resource),
    forCaller: (request: HttpRequest) =>
      documentAll(describeForCaller(reachable, ({ options }) => byOptions.get(options)?.viewsFor(request))),
  };
}

/** The statements that create what generated operations need in the database beside the tables. */
export const schemaStatements = (moduleRef: Pick<ModuleRef, 'get'>): string[] => [
  ...new Set(crudApplicationOf(moduleRef).all.flatMap(({ searchIndex }) => searchIndex?.statements ?? [])),
];
