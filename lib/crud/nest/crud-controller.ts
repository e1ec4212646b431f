/** The class factory of generated controllers. */
import { Controller, Inject, Optional, RequestMethod, UseFilters, UseInterceptors } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { getDataSourceToken, getRepositoryToken } from '@nestjs/typeorm';
import type { DataSource, Repository } from 'typeorm';
import type { JsonObject } from '../../http/json-body.js';
import { CallerRoles, setRoleHierarchy } from '../../http/principal.js';
import type { HttpRequest } from '../../http/request-facts.js';
import { InvalidOptionError } from '../../options/invalid-option.js';
import { applicationOf } from '../../routes/application.js';
import { failureFilter } from '../../routes/failure-filter.js';
import type { CrudOptions } from '../declare/crud-options.js';
import { declareClass, declareOptions } from '../declare/declared-options.js';
import { failureEnvelope, type ListQuery } from '../declare/envelope.js';
import type { GeneratedControllerClass } from '../declare/generated-controller.js';
import type { GeneratedHooks } from '../declare/generated-hooks.js';
import { OPERATION_NAMES, OPERATIONS, type OperationName } from '../declare/operations.js';
import { resolveCrudOptions, type ResolvedCrudOptions } from '../declare/resolve-options.js';
import { count, aggregate, exists } from '../operations/figures.js';
import { create, createMany } from '../operations/create.js';
import { deleteMany, remove } from '../operations/delete.js';
import { exportList } from '../operations/export.js';
import { findById } from '../operations/find-by-id.js';
import { list } from '../operations/list.js';
import { patchMany } from '../operations/patch-many.js';
import { restore } from '../operations/restore.js';
import { update } from '../operations/update.js';
import type { Plan } from '../plan/plan.js';
import { rawQueryOf, sentKey } from '../query/raw-query.js';
import { beginCall, type Call } from '../store/call.js';
import { crudApplicationOf, DATA_SOURCE, REPOSITORY } from './crud-application.js';
import { IdempotencyInterceptor } from './idempotency.interceptor.js';
import { addRoutes, describeParameters, prepareController, prototypeInOrder } from './routes.js';
import { checkDeclarations, finishStartup, prepareAdapter } from './startup.js';

/** What the method of each operation runs. A subclass may define the hooks. */
type Run = (plan: Plan, call: Call, hooks: GeneratedHooks<object>, ...parameters: never[]) => Promise<unknown>;

const RUN: Readonly<Record<OperationName, Run>> = {
  search: (plan, call, _, query: ListQuery) => list(plan, call, query, 'search'),
  exists: (plan, call, _, id: string) => exists(plan, call, id),
  count: (plan, call, _, query: ListQuery) => count(plan, call, query),
  aggregate: (plan, call, _, query: ListQuery) => aggregate(plan, call, query),
  export: (plan, call, _, query: ListQuery) => exportList(plan, call, query),
  findAll: (plan, call, _, query: ListQuery) => list(plan, call, query, 'findAll'),
  findById: (plan, call, _, id: string, query?: ListQuery) => findById(plan, call, id, query),
  createMany: (plan, call, hooks, body: JsonObject, query?: ListQuery) => createMany(plan, call, body, query, hooks),
  patchMany: (plan, call, hooks, body: JsonObject, query?: ListQuery) => patchMany(plan, call, body, query, hooks),
  deleteMany: (plan, call, hooks, query: ListQuery) => deleteMany(plan, call, query, hooks),
  create: (plan, call, hooks, body: JsonObject) => create(plan, call, body, hooks),
  update: (plan, call, hooks, id: string, body: JsonObject) => update(plan, call, 'update', id, body, hooks),
  patch: (plan, call, hooks, id: string, body: JsonObject) => update(plan, call, 'patch', id, body, hooks),
  delete: (plan, call, hooks, id: string, query?: ListQuery) => remove(plan, call, id, query, hooks),
  restore: (plan, call, _, id: string) => restore(plan, call, id),
};

const MODULE_REF = Symbol('declarest.moduleRef');
const MODULE_REF_VALUE = Symbol('declarest.moduleRefValue');
const PLAN = Symbol('declarest.plan');

/**
 * Everything is injected as a property, so that a subclass's constructor is its own. The hooks start all generated
 * controllers of the application, also without `CrudModule`.
 */
@UseFilters(failureFilter(failureEnvelope))
abstract class GeneratedBase {
  /** `undefined` in a module without a data source, such as that of a unit test. */
  declare readonly [DATA_SOURCE]: DataSource | undefined;
  /** `undefined` where the controller's module does not provide it. */
  declare readonly [REPOSITORY]: Repository<object> | undefined;
  declare [MODULE_REF_VALUE]: ModuleRef;
  declare [PLAN]: Plan | undefined;

  /** Nest sets it when it creates the controller, before it registers routes. */
  set [MODULE_REF](moduleRef: ModuleRef) {
    prepareAdapter(moduleRef);
    this[MODULE_REF_VALUE] = moduleRef;
  }

  constructor() {
    // At startup, unless the controller is request-scoped: then CrudModule prepares it.
    prepareController(new.target);
    const prototype = prototypeInOrder(new.target);
    if (prototype !== new.target.prototype) return Object.create(prototype) as this;
  }

  /** @throws InvalidOptionError where a declaration does not fit its data source */
  onModuleInit(): void | Promise<void> {
    return checkDeclarations(this[MODULE_REF_VALUE]);
  }

  onApplicationBootstrap(): void | Promise<void> {
    finishStartup(this[MODULE_REF_VALUE]);
  }
}
describeParameters(GeneratedBase.prototype);
// As a decorator of the setter, it would inject a parameter.
Inject(ModuleRef)(GeneratedBase.prototype, MODULE_REF);

/** The generated controller of an entity, to be registered as it is or extended. @throws InvalidOptionError */
export function CrudController<T extends object>(options: CrudOptions<T>): GeneratedControllerClass<T> {
  const controller = generateController(options);
  declareClass(controller, options.entity);
  return controller;
}

export function generateController<T extends object>(options: CrudOptions<T>): GeneratedControllerClass<T> {
  const resolved = resolveCrudOptions(options);
  const { entity, endpoint, dataSource, enableIdempotency } = resolved;
  class Generated extends GeneratedBase {}
  const { prototype } = Generated;
  for (const name of OPERATION_NAMES) {
    const run = RUN[name];
    const query = (OPERATIONS[name].parameters as readonly string[]).indexOf('query');
    const writes = OPERATIONS[name].verb !== RequestMethod.GET;
    const takesId = OPERATIONS[name].parameters[0] === 'id';
    const methods = {
      [name](this: GeneratedBase, ...parameters: never[]): Promise<unknown> {
        const call = beginCall(writes);
        // An override that calls `super` without the query of its request means that one.
        const { state } = call;
        const plan = planOf(resolved, this);
        if (state && state.handler === Reflect.get(this, name)) {
          state.key = plan.schema.key;
          if (query >= 0 && parameters[query] === undefined) parameters[query] = rawQueryOf(state.request) as never;
        }
        if (takesId && plan.schema.key.fields.length > 1)
          parameters[0] = sentKey(call.request, String(parameters[0])) as never;
        if (call.request && !state) expandRoles(call.request, this[MODULE_REF_VALUE]);
        return run(plan, call, this as GeneratedHooks<object>, ...parameters);
      },
    };
    Object.defineProperty(prototype, name, { value: methods[name], writable: true, configurable: true });
  }
  addRoutes(prototype, resolved);
  Inject(getDataSourceToken(dataSource) as string)(prototype, DATA_SOURCE);
  Inject(getRepositoryToken(entity, dataSource) as string)(prototype, REPOSITORY);
  // Where there is no data source, the startup checks say in a sentence what is missing.
  for (const key of [DATA_SOURCE, REPOSITORY]) Optional()(prototype, key);
  Controller(endpoint)(Generated);
  if (enableIdempotency) UseInterceptors(IdempotencyInterceptor)(Generated);
  Object.defineProperty(Generated, 'name', { value: `${entity.name}CrudController` });
  declareOptions(Generated, resolved);
  return Generated as unknown as GeneratedControllerClass<T>;
}

function expandRoles(request: HttpRequest, moduleRef: ModuleRef): void {
  const { expand } = applicationOf(moduleRef).stateOf(CallerRoles);
  if (expand) setRoleHierarchy(request, expand);
}

const withoutDataSource = (name: string): string =>
  `${name} needs a data source, and its module has none. In a unit test, use createCrudTestingModule([${name}], […]) of ` +
  `declarest/testing; in an application, import TypeOrmModule.forRoot(…) and CrudModule.forFeature(${name}).`;

/** The plan of a controller's resource, for what was injected into the controller. */
function planOf(options: ResolvedCrudOptions, controller: GeneratedBase): Plan {
  if (controller[PLAN]) return controller[PLAN];
  const { [DATA_SOURCE]: dataSource, [REPOSITORY]: injected, [MODULE_REF_VALUE]: moduleRef } = controller;
  if (!dataSource) throw InvalidOptionError.withMessage(withoutDataSource(controller.constructor.name));
  const repository = injected ?? dataSource.getRepository(options.entity);
  return (controller[PLAN] = crudApplicationOf(moduleRef).planFor(options, dataSource, repository));
}
