/** Warnings about the CORS declarations of one application. Each is reported once. */
import type { ServerResponse } from 'node:http';
import { Logger } from '@nestjs/common';
import type { Application } from '../routes/application.js';
import type { FastifyInstance } from '../routes/fastify.js';
import { takeReturnedPaths, uncoveredPaths } from './routes-of.js';

const IS_CHECKED = Symbol('declarest.corsChecked');

export class CorsWarnings {
  private readonly logger = new Logger('cors');
  readonly boundPaths = new Set<string>();
  private isReported = false;
  private hasEnabledCors = false;

  constructor(private readonly application: Application) {}

  checkApplication(): void {
    if (this.isReported) return;
    this.isReported = true;
    const { adapter, routeTable, config } = this.application;
    for (const path of uncoveredPaths(this.boundPaths, routeTable, config))
      this.logger.warn(
        `routesOf: no route of the application has the path ${path}. Under a RouterModule prefix, pass the whole path to forRoutes.`,
      );
    if ((adapter as { readonly isCorsEnabled?: boolean } | undefined)?.isCorsEnabled) this.warnOfEnabledCors();
    if (adapter?.getType() !== 'fastify') return;
    // The plugin of app.enableCors() is loaded last of all.
    const instance = adapter.getInstance<FastifyInstance>();
    instance.addHook('onReady', (done) => {
      if (instance.hasRequestDecorator('corsPreflightEnabled')) this.warnOfEnabledCors();
      done();
    });
  }

  /**
   * Only the adapter of `declarest/express` knows whether `app.enableCors()` was called. With Nest's own adapter, the first
   * response that already has the headers shows it.
   */
  checkResponse(response: ServerResponse & { [IS_CHECKED]?: true }): void {
    if (!this.hasEnabledCors && !response[IS_CHECKED] && response.hasHeader('access-control-allow-origin'))
      this.warnOfEnabledCors();
    response[IS_CHECKED] = true;
  }

  private warnOfEnabledCors(): void {
    this.hasEnabledCors = true;
    this.logger.warn(
      'app.enableCors() and cors() are both used, and app.enableCors() answers every OPTIONS request. Remove one of the two.',
    );
  }
}

const createWarnings = (application: Application): CorsWarnings => new CorsWarnings(application);

/** One for all groups of the application. The paths that `routesOf` returned are those that it binds. */
export function corsWarningsOf(application: Application): CorsWarnings {
  const warnings = application.once(createWarnings);
  for (const path of takeReturnedPaths()) warnings.boundPaths.add(path);
  return warnings;
}
