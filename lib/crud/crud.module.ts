import { Module, type DynamicModule, type FactoryProvider, type NestModule, type Type } from '@nestjs/common';
import type { OnApplicationBootstrap, OnModuleInit } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { describe, InvalidOptionError, isClass } from '../options/invalid-option.js';
import { ShutdownModule } from '../shutdown/shutdown.module.js';
import { generateController } from './nest/crud-controller.js';
import type { GeneratedController } from './declare/generated-controller.js';
import type { CrudOptions } from './declare/crud-options.js';
import { IdempotencyKey } from './idempotency/idempotency-keys.js';
import type { ResolvedCrudOptions } from './declare/resolve-options.js';
import { optionsOf } from './declare/declared-options.js';
import { resolveModuleOptions, type CrudModuleOptions } from './declare/filter-operators.js';
import { crudApplicationOf, MODULE_OPTIONS } from './nest/crud-application.js';
import { prepareController } from './nest/routes.js';
import { assertKnown } from './plan/resource.js';
import { beginRouting, checkDeclarations, finishStartup, prepareAdapter } from './nest/startup.js';

/** The options of a resource, or a controller class that extends `CrudController(options)`. */
// Resources of entities that are not known by their types.
// oxlint-disable-next-line typescript/no-explicit-any
export type CrudResource = CrudOptions<any> | Type<GeneratedController<any>>;

/** Checks the names of fields by the entity of the options. */
type WithFields<R> = R extends { readonly entity: Type<infer T extends object> } ? CrudOptions<T> : unknown;

/**
 * Registers generated controllers, and the repositories of their entities. A request-scoped controller in the plain
 * `controllers` of a module needs `CrudModule` among the imports of any module.
 */
@Module({ imports: [ShutdownModule] })
export class CrudModule implements NestModule, OnModuleInit, OnApplicationBootstrap {
  constructor(private readonly moduleRef: ModuleRef) {
    crudApplicationOf(moduleRef).controllers.forEach(prepareController);
    prepareAdapter(moduleRef);
  }

  /**
   * Options of all resources, such as operators of their filters. Once for an application; without options it is not needed.
   * @throws InvalidOptionError
   */
  static forRoot(options: CrudModuleOptions): DynamicModule {
    return { module: CrudModule, providers: [{ provide: MODULE_OPTIONS, useValue: resolveModuleOptions(options) }] };
  }

  /** @throws InvalidOptionError */
  static forFeature<const R extends readonly CrudResource[]>(
    ...resources: { [K in keyof R]: R[K] & WithFields<R[K]> }
  ): DynamicModule {
    if (resources.length === 0) refuse('called with at least one resource', 'none');
    const controllers = resources.map(controllerOf);
    const imports = repositoriesOf(controllers.map((controller) => optionsOf(controller) as ResolvedCrudOptions));
    return { module: CrudModule, imports, controllers, exports: imports };
  }

  configure(): void {
    beginRouting(this.moduleRef);
  }

  /** @throws InvalidOptionError where a declaration does not fit its data source */
  onModuleInit(): Promise<void> {
    return checkDeclarations(this.moduleRef);
  }

  onApplicationBootstrap(): void {
    finishStartup(this.moduleRef);
  }
}

function controllerOf(resource: CrudResource): Type<GeneratedController<object>> {
  if (!isClass(resource)) return generateController(resource as CrudOptions) as Type<GeneratedController<object>>;
  if (optionsOf(resource)) return resource as Type<GeneratedController<object>>;
  return refuse('called with CRUD options or generated controllers', describe(resource));
}

function refuse(expected: string, got: string): never {
  const advice = 'give CRUD options or a class that extends CrudController(options)';
  throw new InvalidOptionError('CrudModule.forFeature', expected, got, advice);
}

/** TypeORM's repositories, behind a check whether the data source knows the entity: one module for each data source. */
function repositoriesOf(resources: readonly ResolvedCrudOptions[]): DynamicModule[] {
  return [...new Set(resources.map(({ dataSource }) => dataSource))].map((name) => {
    const own = resources.filter(({ dataSource }) => dataSource === name);
    const unique = [...new Map(own.map((options) => [options.entity, options])).values()];
    const entities = unique.map(({ entity }) => entity);
    const storesAnswers = own.some(({ enableIdempotency }) => enableIdempotency);
    const feature = TypeOrmModule.forFeature([...entities, ...(storesAnswers ? [IdempotencyKey] : [])], name);
    const inject = [{ token: getDataSourceToken(name) as string, optional: true }];
    const providers = ((feature.providers ?? []) as FactoryProvider[]).map((provider, index) => ({
      ...provider,
      inject,
      useFactory: (dataSource: DataSource | undefined): unknown => {
        const options = unique[index];
        if (options) return provider.useFactory(assertKnown(options, dataSource));
        // The checks of the resource say in a sentence where the entity is missing.
        return dataSource?.hasMetadata(IdempotencyKey) ? provider.useFactory(dataSource) : undefined;
      },
    }));
    return { ...feature, providers };
  });
}
