import type { ServerResponse } from 'node:http';
import { Logger } from '@nestjs/common';
import type { Application } from '../routes/application.js';
import type { FastifyInstance } from '../routes/fastify-routes.js';
import { takeReturnedPaths, uncoveredPaths } from './routes-of.js';

const IS_CHECKED = Symbol('declarest.corsChecked');
const logger = new Logger('cors');

/** Checks the CORS declarations of an application that has started, whichever of its groups is the first. */
export class CorsWarnings {
  private hasEnabledCors = false;

  constructor({ adapter, routeTable, config }: Application) {
    for (const path of uncoveredPaths(new Set(takeReturnedPaths()), routeTable, config))
      logger.warn(
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
    logger.warn(
      'app.enableCors() and cors() are both used, and app.enableCors() answers every OPTIONS request. Remove one of the two.',
    );
  }
}
