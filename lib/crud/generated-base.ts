import { Inject, Optional, UseFilters, UseGuards } from '@nestjs/common';
import { HttpAdapterHost, ModuleRef, ModulesContainer } from '@nestjs/core';
import { getDataSourceToken, getRepositoryToken } from '@nestjs/typeorm';
import type { DataSource, Repository } from 'typeorm';
import { UnreadableBodyGuard } from '../routes/unreadable-body.js';
import { prepareController } from './controller-preparation.js';
import { CrudExceptionFilter } from './crud-exception.filter.js';
import type { ResolvedCrudOptions } from './crud-options.js';
import { operationsFor } from './declared-resources.js';
import { describeParameters } from './generated-routes.js';
import type { Operations } from './operations.js';
import { checkDeclarations, prepareAdapter, reportControllers, type Core } from './startup.js';

const DATA_SOURCE = Symbol('declarest.dataSource');
const REPOSITORY = Symbol('declarest.repository');
const HOST = Symbol('declarest.host');
const HOST_VALUE = Symbol('declarest.hostValue');
const MODULES = Symbol('declarest.modules');
const MODULE_REF = Symbol('declarest.moduleRef');

/**
 * What all generated controllers inherit. Everything is injected as a property, so that a subclass's constructor is its
 * own. The hooks start all generated controllers of the application, also without `CrudModule`.
 */
@UseGuards(UnreadableBodyGuard)
@UseFilters(CrudExceptionFilter)
export abstract class GeneratedBase {
  declare readonly [DATA_SOURCE]: DataSource;
  /** `undefined` where the controller's module does not provide it. */
  declare readonly [REPOSITORY]: Repository<never> | undefined;
  @Inject(ModulesContainer) declare readonly [MODULES]: ModulesContainer;
  @Inject(ModuleRef) declare readonly [MODULE_REF]: ModuleRef;

  declare private readonly [HOST_VALUE]: HttpAdapterHost;

  /** Nest sets it when it creates the controller, before it registers routes. */
  set [HOST](host: HttpAdapterHost) {
    prepareAdapter(host);
    Object.assign(this, { [HOST_VALUE]: host });
  }

  get [HOST](): HttpAdapterHost {
    return this[HOST_VALUE];
  }

  constructor() {
    // At startup, unless the controller is request-scoped: then CrudModule prepares it.
    prepareController(new.target);
  }

  /** @throws InvalidOptionError where a declaration does not fit its data source */
  onModuleInit(): void | Promise<void> {
    checkDeclarations(coreOf(this));
  }

  onApplicationBootstrap(): void | Promise<void> {
    reportControllers(coreOf(this));
  }
}
describeParameters(GeneratedBase.prototype);
// As a decorator of the setter, it would inject a parameter.
Inject(HttpAdapterHost)(GeneratedBase.prototype, HOST);

const coreOf = ({ [HOST]: host, [MODULES]: modules, [MODULE_REF]: moduleRef }: GeneratedBase): Core => ({
  host,
  modules,
  moduleRef,
});

/** Tells Nest what a generated class reads and writes through. */
export function injectRepository(
  { entity, dataSource }: ResolvedCrudOptions,
  { prototype }: { prototype: object },
): void {
  const tokens = {
    [DATA_SOURCE]: getDataSourceToken(dataSource),
    [REPOSITORY]: getRepositoryToken(entity, dataSource),
  };
  for (const key of [DATA_SOURCE, REPOSITORY] as const) {
    Inject(tokens[key] as string)(prototype, key);
    // Where there is no data source, the startup checks say in a sentence what is missing.
    Optional()(prototype, key);
  }
}

/** The operations of a resource through what was injected into its controller. */
export function operationsOf<T extends object>(
  options: ResolvedCrudOptions<T>,
  { [DATA_SOURCE]: dataSource, [REPOSITORY]: injected }: GeneratedBase,
): Operations<T> {
  const repository = (injected as Repository<T> | undefined) ?? dataSource.getRepository(options.entity);
  return operationsFor(options, dataSource, repository);
}
