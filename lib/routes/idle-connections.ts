import type { Server } from 'node:http';
import type { FactoryProvider } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { applicationOf, type Application } from './application.js';

/** Nest closes idle connections once: one that becomes idle later would delay the end until its `keepAliveTimeout`. */
export class IdleConnections {
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly application: Application) {}

  /** From now on, every answer ends its connection: a proxy would send its next request into one that closes. */
  onModuleDestroy(): void {
    const server = this.application.adapter?.getHttpServer() as Partial<Server> | undefined;
    if (this.timer || !server?.closeIdleConnections) return; // HTTP/2 ends its sessions itself.
    server.prependListener?.('request', ({ httpVersionMajor }, response) => {
      if (httpVersionMajor < 2) response.setHeader('Connection', 'close');
    });
    this.timer = setInterval(() => server.listening || server.closeIdleConnections?.(), 100).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }
}

export const idleConnections: FactoryProvider = {
  provide: IdleConnections,
  inject: [ModuleRef],
  useFactory: (ref: ModuleRef) => applicationOf(ref).stateOf(IdleConnections, applicationOf(ref)),
};
