/** The class factory of generated controllers. */
import { Controller, Inject, Optional, UseFilters, UseGuards, UseInterceptors, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { getDataSourceToken, getRepositoryToken } from '@nestjs/typeorm';
import type { DataSource, Repository } from 'typeorm';
import { CallerRoles, setRoleHierarchy } from '../../http/caller.js';
import { InvalidOptionError } from '../../options/invalid-option.js';
import { applicationOf } from '../../routes/application.js';
import { failureFilter } from '../../routes/failure-filter.js';
import type { CrudOptions } from '../declare/crud-options.js';
import type { OperationInput } from '../declare/custom-operation.js';
import { declareClass, declareOptions } from '../declare/declared-options.js';
import { failureEnvelope, type ListQuery } from '../declare/envelope.js';
import type { GeneratedControllerClass } from '../declare/generated-controller.js';
import { compileHooks, type GeneratedHooks } from '../declare/generated-hooks.js';
import { resolveCrudOptions, type ResolvedCrudOptions } from '../declare/resolve-options.js';
import { customOperation } from '../operations/custom-operation.js';
import type { Operation } from '../operations/operation.js';
import { standardOperations } from '../operations/standard-operations.js';
import { pascalCase } from '../document/names.js';
import type { Plan } from '../plan/plan.js';
import { rawQueryOf, sentKey, withoutParameters } from '../query/raw-query.js';
import { beginCall } from '../store/call.js';
import { crudApplicationOf, DATA_SOURCE, REPOSITORY } from './crud-application.js';
import { IdempotencyInterceptor } from './idempotency.interceptor.js';
import { noStoreForUsers } from '../../response-headers/no-store.guard.js';
import { addRoutes, describeParameters, prepareController, prototypeInOrder } from './routes.js';
import { checkDeclarations, finishStartup, prepareAdapter } from './startup.js';

const NO_QUERY: ListQuery = Object.freeze({});

const MODULE_REF = Symbol('declarest.moduleRef');
const MODULE_REF_VALUE = Symbol('declarest.moduleRefValue');
const PLAN = Symbol('declarest.plan');
const HOOKS = Symbol('declarest.hooks');

/**
 * Everything is injected as a property, so that a subclass's constructor is its own. The hooks start all generated
 * controllers of the application, also without `CrudModule`.
 */
@UseGuards(noStoreForUsers)
@UseFilters(failureFilter(failureEnvelope))
abstract class GeneratedBase {
  /** `undefined` in a module without a data source, such as that of a unit test. */
  declare readonly [DATA_SOURCE]: DataSource | undefined;
  /** `undefined` where the controller's module does not provide it. */
  declare readonly [REPOSITORY]: Repository<object> | undefined;
  declare [MODULE_REF_VALUE]: ModuleRef;
  declare [PLAN]: Plan | undefined;
  declare [HOOKS]: GeneratedHooks<object> | undefined;

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
describeParameters(GeneratedBase.prototype, standardOperations);
// As a decorator of the setter, it would inject a parameter.
Inject(ModuleRef)(GeneratedBase.prototype, MODULE_REF);

/** The generated controller of an entity, to be registered as it is or extended. @throws InvalidOptionError */
export function CrudController<T extends object>(options: CrudOptions<T>): GeneratedControllerClass<T> {
  const controller = generateController(options);
  declareClass(controller, options.entity);
  return controller;
}

export function generateController<T extends object>(options: CrudOptions<T>): GeneratedControllerClass<T> {
  const resolved = resolveCrudOptions(options, standardOperations, customOperation);
  const { entity, endpoint, dataSource, enableIdempotency } = resolved;
  class Generated extends GeneratedBase {}
  const { prototype } = Generated;
  for (const operation of resolved.knownOperations) addMethod(prototype, operation as Operation, resolved);
  addRoutes(prototype, resolved);
  Inject(getDataSourceToken(dataSource) as string)(prototype, DATA_SOURCE);
  Inject(getRepositoryToken(entity, dataSource) as string)(prototype, REPOSITORY);
  // Where there is no data source, the startup checks say in a sentence what is missing.
  for (const key of [DATA_SOURCE, REPOSITORY]) Optional()(prototype, key);
  Controller(endpoint)(Generated);
  if (enableIdempotency) UseInterceptors(IdempotencyInterceptor)(Generated);
  Object.defineProperty(Generated, 'name', { value: classNameOf(entity, endpoint) });
  declareOptions(Generated, resolved);
  return Generated as unknown as GeneratedControllerClass<T>;
}

const endpoints = new WeakMap<object, Set<string>>();

/** What counts by class, such as @nestjs/throttler, tells the second resource of an entity from the first one by its name. */
function classNameOf(entity: Type, endpoint: string): string {
  const known = endpoints.get(entity) ?? new Set([endpoint]);
  endpoints.set(entity, known.add(endpoint));
  const [first] = known;
  return `${first === endpoint ? '' : pascalCase(endpoint)}${entity.name}CrudController`;
}

function addMethod(prototype: GeneratedBase, operation: Operation, options: ResolvedCrudOptions): void {
  const { name, route } = operation;
  const { verb, takes } = route;
  const [idPlace, queryPlace] = [takes.indexOf('id'), takes.indexOf('query')];
  const bodyPlace = takes.findIndex((each) => each === 'body' || each === 'patch');
  const methods = {
    [name](this: GeneratedBase, ...parameters: unknown[]): Promise<unknown> {
      const hooks = (this[HOOKS] ??= compileHooks(this));
      const call = beginCall(verb !== 'GET', { hooks, controller: this, source: 'client' });
      const { state, request } = call;
      const plan = planOf(options, this);
      let query = parameterAt(queryPlace, parameters) ?? NO_QUERY;
      let id = parameterAt(idPlace, parameters);
      if (state && state.handler === Reflect.get(this, name)) {
        state.key = plan.schema.key;
        // An override that calls `super` without the query of its request means that one.
        if (queryPlace >= 0 && query === NO_QUERY) query = rawQueryOf(state.request);
      }
      query = withoutParameters(query as ListQuery, plan.database.ignoredParameters);
      if (idPlace >= 0 && plan.schema.key.fields.length > 1) id = sentKey(request, String(id));
      const expand = request && !state && applicationOf(this[MODULE_REF_VALUE]).stateOf(CallerRoles).expand;
      if (expand) setRoleHierarchy(request, expand);
      return operation.run(plan, call, { id, query, body: parameterAt(bodyPlace, parameters) } as OperationInput);
    },
  };
  Object.defineProperty(prototype, name, { value: methods[name], writable: true, configurable: true });
  // The parameters of standard operations are described once, for the base class.
  if (!Reflect.hasMetadata('design:paramtypes', prototype, name)) describeParameters(prototype, [operation]);
}

/** V8 looks up the index -1 of an array as the name of a property, which is slow. */
const parameterAt = (place: number, parameters: readonly unknown[]): unknown =>
  place < 0 ? undefined : parameters[place];

const withoutDataSource = (name: string): string =>
  `${name} needs a data source, and its module has none. In a unit test, use createCrudTestingModule([${name}], […]) of ` +
  `declarest/testing; in an application, import TypeOrmModule.forRoot(…) and CrudModule.forFeature(${name}).`;

/** The plan of a controller's resource, for what was injected into the controller. */
function planOf(options: ResolvedCrudOptions, controller: GeneratedBase): Plan {
  if (controller[PLAN]) return controller[PLAN];
  const { [DATA_SOURCE]: dataSource, [REPOSITORY]: injected, [MODULE_REF_VALUE]: moduleRef } = controller;
  if (!dataSource) throw InvalidOptionError.withMessage(withoutDataSource(controller.constructor.name));
  return (controller[PLAN] = crudApplicationOf(moduleRef).planFor(options, dataSource, injected));
}
