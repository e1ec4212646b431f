import * as http from 'node:http';
import type { NestApplicationOptions } from '@nestjs/common';
import { ExpressAdapter as NestExpressAdapter } from '@nestjs/platform-express';
import { compileLater, isPlain, type DeclaresRoutes } from './later-routes.js';
import { walkByPrefix, type Router } from './prefix-walk.js';

interface Application {
  readonly request: http.IncomingMessage;
  readonly response: http.ServerResponse;
  readonly router: Router & DeclaresRoutes;
}

/** Nest's adapter for Express, without what makes Express slow: the same answers, to the byte and in the same order. */
export class ExpressAdapter extends NestExpressAdapter {
  constructor(instance?: unknown) {
    super(instance);
    const { router } = this.getInstance<Application>();
    walkByPrefix(router);
    compileLater(router);
  }

  /** Nest's compiles each path once more, to see whether Express could. */
  override normalizePath(path: string): string {
    return isPlain(path) ? path : super.normalizePath(path);
  }

  override initHttpServer(options: NestApplicationOptions): void {
    const messages = messagesOf(this.getInstance<Application>());
    if (options?.httpsOptions) {
      super.initHttpServer({ ...options, httpsOptions: { ...options.httpsOptions, ...messages } });
      return;
    }
    // What Nest binds to its server, it binds to the one that is kept.
    super.initHttpServer({ ...options, forceCloseConnections: false });
    this.httpServer = http.createServer(messages, this.getInstance<http.RequestListener>());
    if (options?.forceCloseConnections) this['trackOpenConnections']();
  }
}

/**
 * Express gives every request and response another prototype, after which node's own code no longer runs optimised.
 * Node is told to create them with that prototype, and then there is nothing to change.
 */
function messagesOf({ request, response }: Application): http.ServerOptions {
  function IncomingMessage(this: http.IncomingMessage, ...args: ConstructorParameters<typeof http.IncomingMessage>) {
    http.IncomingMessage.apply(this, args);
  }
  function ServerResponse(this: http.ServerResponse, ...args: ConstructorParameters<typeof http.ServerResponse>) {
    http.ServerResponse.apply(this, args);
  }
  IncomingMessage.prototype = request;
  ServerResponse.prototype = response;
  // V8 counts the fields of a new object along these, and without them makes its room in steps of three.
  Object.setPrototypeOf(IncomingMessage, http.IncomingMessage);
  Object.setPrototypeOf(ServerResponse, http.ServerResponse);
  return { IncomingMessage, ServerResponse } as unknown as http.ServerOptions;
}
