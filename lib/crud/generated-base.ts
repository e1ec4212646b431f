import { Inject, Optional, UseFilters, UseInterceptors } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { getDataSourceToken, getRepositoryToken } from '@nestjs/typeorm';
import type { DataSource, Repository } from 'typeorm';
import { failureFilter } from '../http/failure.js';
import { prepareController } from './controller-preparation.js';
import type { ResolvedCrudOptions } from './resolve-options.js';
import { failureEnvelope } from './envelope.js';
import { etagInterceptor } from './etag.interceptor.js';
import { describeParameters } from './generated-routes.js';
import type { Operations } from './operations/operations.js';
import { DATA_SOURCE, REPOSITORY, type InjectedMembers } from './injected-members.js';
import { multiStatusInterceptor } from './multi-status.interceptor.js';
import { requestContextInterceptor } from './request-context.js';
import { checkDeclarations, prepareAdapter, registryOf, reportControllers } from './startup.js';

const MODULE_REF = Symbol('declarest.moduleRef');
const MODULE_REF_VALUE = Symbol('declarest.moduleRefValue');

/**
 * What all generated controllers inherit. Everything is injected as a property, so that a subclass's constructor is its
 * own. The hooks start all generated controllers of the application, also without `CrudModule`.
 */
@UseInterceptors(requestContextInterceptor, etagInterceptor, multiStatusInterceptor)
@UseFilters(failureFilter(failureEnvelope))
export abstract class GeneratedBase implements InjectedMembers {
  declare readonly [DATA_SOURCE]: DataSource;
  declare readonly [REPOSITORY]: Repository<never> | undefined;
  declare [MODULE_REF_VALUE]: ModuleRef;

  /** Nest sets it when it creates the controller, before it registers routes. */
  set [MODULE_REF](moduleRef: ModuleRef) {
    prepareAdapter(moduleRef);
    this[MODULE_REF_VALUE] = moduleRef;
  }

  constructor() {
    // At startup, unless the controller is request-scoped: then CrudModule prepares it.
    prepareController(new.target);
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

/** The operations of a resource through what was injected into its controller. */
export function operationsOf<T extends object>(
  options: ResolvedCrudOptions<T>,
  { [DATA_SOURCE]: dataSource, [REPOSITORY]: injected, [MODULE_REF_VALUE]: moduleRef }: GeneratedBase,
): Operations<T> {
  const repository = (injected as Repository<T> | undefined) ?? dataSource.getRepository(options.entity);
  return registryOf(moduleRef).operationsFor(options, dataSource, repository);
}
