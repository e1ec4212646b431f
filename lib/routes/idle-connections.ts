import type { BeforeApplicationShutdown, FactoryProvider, OnApplicationShutdown } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { applicationOf, type Application } from './application.js';

const INTERVAL_MS = 100;

interface Server {
  readonly listening: boolean;
  /** Servers of HTTP/2 have none: they end their sessions themselves. */
  closeIdleConnections?(): void;
}

/** Nest closes idle connections once: one that becomes idle later would delay the end until its `keepAliveTimeout`. */
export class IdleConnections implements BeforeApplicationShutdown, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly application: Application) {}

  beforeApplicationShutdown(): void {
    const server = this.application.adapter?.getHttpServer() as Server | undefined;
    // Several modules provide this object.
    if (this.timer || !server?.closeIdleConnections) return;
    this.timer = setInterval(() => server.listening || server.closeIdleConnections?.(), INTERVAL_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }
}

export const idleConnections: FactoryProvider = {
  provide: IdleConnections,
  inject: [ModuleRef],
  useFactory: (moduleRef: ModuleRef) => {
    const application = applicationOf(moduleRef);
    return application.stateOf(IdleConnections, application);
  },
};
