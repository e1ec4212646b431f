/** What all generated controllers inherit. */
import { Inject, Optional, UseFilters } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { getDataSourceToken, getRepositoryToken } from '@nestjs/typeorm';
import type { DataSource, Repository } from 'typeorm';
import { failureFilter } from '../../http/failure.js';
import { failureEnvelope } from '../declare/envelope.js';
import type { ResolvedCrudOptions } from '../declare/resolve-options.js';
import type { Plan } from '../plan/plan.js';
import { crudApplicationOf, DATA_SOURCE, REPOSITORY } from './crud-application.js';
import { describeParameters, prepareController, prototypeInOrder } from './routes.js';
import { checkDeclarations, prepareAdapter, reportControllers } from './startup.js';

const MODULE_REF = Symbol('declarest.moduleRef');
const MODULE_REF_VALUE = Symbol('declarest.moduleRefValue');
const PLAN = Symbol('declarest.plan');

/**
 * Everything is injected as a property, so that a subclass's constructor is its own. The hooks start all generated
 * controllers of the application, also without `CrudModule`.
 */
@UseFilters(failureFilter(failureEnvelope))
export abstract class GeneratedBase {
  declare readonly [DATA_SOURCE]: DataSource;
  /** `undefined` where the controller's module does not provide it. */
  declare readonly [REPOSITORY]: Repository<never> | undefined;
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
    reportControllers(this[MODULE_REF_VALUE]);
  }
}
describeParameters(GeneratedBase.prototype);
// As a decorator of the setter, it would inject a parameter.
Inject(ModuleRef)(GeneratedBase.prototype, MODULE_REF);

/** Tells Nest what a generated class reads and writes through. */
export function injectRepository({ entity, dataSource }: ResolvedCrudOptions, prototype: object): void {
  Inject(getDataSourceToken(dataSource) as string)(prototype, DATA_SOURCE);
  Inject(getRepositoryToken(entity, dataSource) as string)(prototype, REPOSITORY);
  // Where there is no data source, the startup checks say in a sentence what is missing.
  for (const key of [DATA_SOURCE, REPOSITORY]) Optional()(prototype, key);
}

/** The plan of a controller's resource, for what was injected into the controller. */
export function planOf<T extends object>(options: ResolvedCrudOptions<T>, controller: GeneratedBase): Plan<T> {
  if (controller[PLAN]) return controller[PLAN] as unknown as Plan<T>;
  const { [DATA_SOURCE]: dataSource, [REPOSITORY]: injected, [MODULE_REF_VALUE]: moduleRef } = controller;
  const repository = (injected as Repository<T> | undefined) ?? dataSource.getRepository(options.entity);
  const plan = crudApplicationOf(moduleRef).planFor(options, dataSource, repository);
  controller[PLAN] = plan as unknown as Plan;
  return plan;
}
