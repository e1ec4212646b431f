/** What does not fit together in the CORS declarations of one application. Each is reported once. */
import type { ServerResponse } from 'node:http';
import { Logger } from '@nestjs/common';
import type { ApplicationConfig } from '@nestjs/core';
import type { HttpAdapter } from '../routes/route-table.js';
import { routeTableOf } from '../routes/route-tables.js';
import { takeReturnedPaths, uncoveredPaths } from './routes-of.js';

interface Fastify {
  hasRequestDecorator(name: string): boolean;
  addHook(name: 'onReady', hook: (done: () => void) => void): void;
}

/** On a response that already went through `cors()`. */
const IS_CHECKED = Symbol('declarest.corsChecked');

export class CorsWarnings {
  private static readonly byAdapter = new WeakMap<HttpAdapter, CorsWarnings>();

  private readonly logger = new Logger('cors');
  private readonly boundPaths = new Set<string>();
  private isReported = false;
  private hasEnabledCors = false;

  static of(adapter: HttpAdapter, config: ApplicationConfig): CorsWarnings {
    let warnings = CorsWarnings.byAdapter.get(adapter);
    if (!warnings) CorsWarnings.byAdapter.set(adapter, (warnings = new CorsWarnings(adapter, config)));
    for (const path of takeReturnedPaths()) warnings.boundPaths.add(path);
    return warnings;
  }

  private constructor(
    private readonly adapter: HttpAdapter,
    private readonly config: ApplicationConfig,
  ) {}

  /** At startup. */
  checkApplication(): void {
    if (this.isReported) return;
    this.isReported = true;
    for (const path of uncoveredPaths(this.boundPaths, routeTableOf(this.adapter), this.config))
      this.logger.warn(
        `routesOf: no route of the application has the path ${path}. Under a RouterModule prefix, pass the whole path to forRoutes.`,
      );
    if ((this.adapter as { readonly isCorsEnabled?: boolean }).isCorsEnabled) this.warnOfEnabledCors();
    if (this.adapter.getType() !== 'fastify') return;
    // The plugin of app.enableCors() is loaded last of all.
    const instance = this.adapter.getInstance<Fastify>();
    instance.addHook('onReady', (done) => {
      if (instance.hasRequestDecorator('corsPreflightEnabled')) this.warnOfEnabledCors();
      done();
    });
  }

  /**
   * Express does not tell whether `app.enableCors()` was called (`declarest/express` does), so the first response that
   * already has the headers tells it.
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
