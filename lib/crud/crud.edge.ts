import type { EventEmitter } from 'node:events';
import {
  Catch,
  Injectable,
  Logger,
  type ArgumentsHost,
  type ExceptionFilter,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost, ModuleRef, ModulesContainer } from '@nestjs/core';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { frontBefore } from '../front/platforms.js';
import { readBrokenEscapes } from '../http/broken-escapes.js';
import { failureAnswer, replyFailure, type FailureAnswer } from '../http/failure.js';
import { sendJsonTexts } from '../http/json-text.js';
import { deferUnreadableBodies, UnreadableBodyGuard } from '../http/unreadable-body.js';
import { DirectHandlers } from '../routes/direct-handler.js';
import { RouteTable } from '../routes/route-table.js';
import {
  isUnbounded,
  markedOverrides,
  prepareController,
  unreachableOverrides,
  type ControllerClass,
} from './crud-boot.js';
import { describePaths } from './data-path.js';
import { declarationOf, expectCompilable, operationsFor } from './declared-resources.js';
import type { ResolvedCrudOptions } from './crud.options.js';
import { failureEnvelope } from './envelope.js';
import { expectKnown } from './resource.js';

/** The guard of every generated controller. */
export const readableBody = new UnreadableBodyGuard();

/**
 * The exception filter of every generated controller. Nest makes one in each module in which such a controller stands,
 * also without `CrudModule`, so the first of them sees to all of the application's at boot.
 */
@Catch()
@Injectable()
export class CrudEdge implements ExceptionFilter, OnModuleInit, OnApplicationBootstrap {
  private static readonly led = new WeakSet<ModulesContainer>();
  private readonly logger = new Logger('CrudModule');
  private readonly controllers: readonly ControllerClass[];
  /** Generated handlers of which the application says nothing more. */
  private readonly direct?: DirectHandlers;
  private readonly declared = new Map<ResolvedCrudOptions, DataSource>();

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly moduleRef: ModuleRef,
    modules: ModulesContainer,
    config: ApplicationConfig,
  ) {
    this.controllers = CrudEdge.led.has(modules) ? [] : generatedControllers(modules);
    CrudEdge.led.add(modules);
    this.controllers.forEach(prepareController);
    deferUnreadableBodies(host, 'own routes');
    readBrokenEscapes(host);
    sendJsonTexts(host);
    if (this.controllers.length === 0) return;
    const direct = new DirectHandlers({ host, modules, config }, { guards: [readableBody], filter: CrudEdge });
    RouteTable.watch(host, (table) =>
      direct.useOn(host.httpAdapter.getInstance<object>(), frontBefore(host.httpAdapter, table)),
    );
    this.direct = direct;
  }

  /** A wrong declaration refuses to boot. */
  onModuleInit(): void {
    const declarations = new Set(this.controllers.flatMap((controller) => declarationOf(controller) ?? []));
    const dataSources = new Map<string | undefined, DataSource | undefined>();
    for (const options of declarations) {
      const name = options.dataSource;
      if (!dataSources.has(name)) dataSources.set(name, this.dataSourceOf(options));
      const dataSource = expectKnown(options, dataSources.get(name));
      expectCompilable(options, dataSource);
      this.declared.set(options, dataSource);
    }
  }

  onApplicationBootstrap(): void {
    this.direct?.front?.install(this.host.httpAdapter.getHttpServer() as EventEmitter);
    for (const line of this.controllers.flatMap(markedOverrides)) this.logger.log(line);
    if (Logger.isLevelEnabled('debug')) this.reportPaths();
    for (const line of this.controllers.flatMap(unreachableOverrides)) this.logger.warn(line);
    const unbounded = [...this.declared.keys()].filter(isUnbounded);
    if (unbounded.length > 0)
      this.logger.warn(
        `Lists without a bound: ${unbounded.map(({ endpoint }) => endpoint).join(', ')}; set enablePagination or maxListSize.`,
      );
  }

  private reportPaths(): void {
    for (const [options, dataSource] of this.declared)
      this.logger.debug(describePaths(options.entity.name, operationsFor(options, dataSource).store.reasons));
    for (const [handler, reason] of this.direct?.reasons ?? [])
      this.logger.debug(`${handler} is run by Nest's router: ${reason}`);
  }

  private dataSourceOf({ dataSource }: ResolvedCrudOptions): DataSource | undefined {
    try {
      return this.moduleRef.get<DataSource>(getDataSourceToken(dataSource) as string, { strict: false });
    } catch {
      return undefined;
    }
  }

  answerTo(exception: unknown): FailureAnswer {
    return failureAnswer(exception, ({ message, errors }) => failureEnvelope(message, errors));
  }

  catch(exception: unknown, host: ArgumentsHost): void {
    replyFailure(this.host, this.answerTo(exception), host);
  }
}

function generatedControllers(modules: ModulesContainer): ControllerClass[] {
  const classes = [...modules.values()].flatMap((module) =>
    [...module.controllers.values()].map(({ metatype }) => metatype as ControllerClass | null),
  );
  return [...new Set(classes)].filter(
    (controller): controller is ControllerClass => controller !== null && declarationOf(controller) !== undefined,
  );
}
