/** The end of the server at a signal: no connection closes while a proxy may send a request over it. */
import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { Global, Module, type BeforeApplicationShutdown, type OnApplicationShutdown } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';

/** Idle connections close when no request has arrived for this time. */
const QUIET_MS = 250;
/** For requests in flight. Kubernetes kills a process 30 s after the signal, of which a readiness check takes some. */
const LIMIT_MS = 20_000;
/** A server whose queue of new connections is never empty must stop too. */
const MAX_TURNS = 1_000;

/** Nest calls the shutdown hooks of global modules last: @nestjs/terminus has waited for load balancers before. */
@Global()
@Module({})
export class ShutdownModule implements BeforeApplicationShutdown, OnApplicationShutdown {
  private readonly timers: NodeJS.Timeout[] = [];

  constructor(private readonly host: HttpAdapterHost) {}

  async beforeApplicationShutdown(signal?: string): Promise<void> {
    const server = this.host.httpAdapter?.getHttpServer() as Server | undefined;
    if (!server?.closeIdleConnections) return; // HTTP/2 ends its sessions itself.
    if (signal) await untilNoneWaits(server);
    await new Promise<void>((resolve) => {
      const closeIdle = (): void => {
        if (server.listening) return;
        server.closeIdleConnections();
        resolve();
      };
      const quiet = setInterval(closeIdle, QUIET_MS).unref();
      // A server of HTTP/2 over TLS that allows HTTP/1 has no such method.
      const limit = setTimeout(() => server.closeAllConnections?.(), LIMIT_MS).unref();
      this.timers.push(quiet, limit);
      // A proxy opens its next connection elsewhere.
      server.prependListener('request', ({ httpVersionMajor }, response) => {
        if (httpVersionMajor < 2) response.setHeader('Connection', 'close');
        quiet.refresh();
      });
      server.once('close', resolve);
      // `server.close()` would close idle connections at once, also one on which a request arrives.
      if (signal) NetServer.prototype.close.call(server);
      else resolve();
    });
  }

  onApplicationShutdown(): void {
    for (const timer of this.timers) clearTimeout(timer);
  }
}

/** When Node stops listening, the kernel resets connections that wait for it: two turns of the loop must bring none. */
async function untilNoneWaits(server: Server): Promise<void> {
  let quietTurns = 0;
  const restart = (): void => void (quietTurns = 0);
  server.on('connection', restart);
  for (let turns = 0; quietTurns < 2 && turns < MAX_TURNS; turns += 1) {
    quietTurns += 1;
    await setImmediate();
  }
  server.off('connection', restart);
}
