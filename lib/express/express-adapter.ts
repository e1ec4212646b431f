import * as http from 'node:http';
import type { Socket } from 'node:net';
import type { NestApplicationOptions } from '@nestjs/common';
import { ExpressAdapter as NestExpressAdapter } from '@nestjs/platform-express';

interface Application {
  readonly request: http.IncomingMessage;
  readonly response: http.ServerResponse;
}

/**
 * Nest's adapter for Express, with faster requests and responses. Express gives each message another prototype, and node's
 * own code then runs slower. This adapter has node create the messages with Express's prototypes.
 * @example const app = await NestFactory.create(AppModule, new ExpressAdapter());
 */
export class ExpressAdapter extends NestExpressAdapter {
  isCorsEnabled = false;
  /** The sockets that `close()` ends with `forceCloseConnections`, as Nest's adapter does. */
  private readonly sockets = new Set<Socket>();

  override enableCors(...options: Parameters<NestExpressAdapter['enableCors']>): void {
    this.isCorsEnabled = true;
    super.enableCors(...options);
  }

  override initHttpServer(options: NestApplicationOptions): void {
    const messages = messageClasses(this.getInstance<Application>());
    if (options?.httpsOptions) {
      super.initHttpServer({ ...options, httpsOptions: { ...options.httpsOptions, ...messages } });
      return;
    }
    // Nest's own server for plain HTTP takes no options: it is replaced by one that does.
    super.initHttpServer({ ...options, forceCloseConnections: false });
    this.httpServer = http.createServer(messages, this.getInstance<http.RequestListener>());
    if (!options?.forceCloseConnections) return;
    this.httpServer.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
    });
  }

  override close(): Promise<unknown> | undefined {
    for (const socket of this.sockets) socket.destroy();
    return super.close();
  }
}

/** Options of `http.createServer`: node calls these constructors for each message. */
function messageClasses({ request, response }: Application): http.ServerOptions {
  function IncomingMessage(this: http.IncomingMessage, ...args: ConstructorParameters<typeof http.IncomingMessage>) {
    http.IncomingMessage.apply(this, args);
  }
  function ServerResponse(this: http.ServerResponse, ...args: ConstructorParameters<typeof http.ServerResponse>) {
    http.ServerResponse.apply(this, args);
  }
  IncomingMessage.prototype = request;
  ServerResponse.prototype = response;
  // V8 reads the fields of a new object from the constructors above it, and reserves room for them.
  Object.setPrototypeOf(IncomingMessage, http.IncomingMessage);
  Object.setPrototypeOf(ServerResponse, http.ServerResponse);
  return { IncomingMessage, ServerResponse } as unknown as http.ServerOptions;
}
