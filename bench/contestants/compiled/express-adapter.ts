import * as http from 'node:http';
import { ExpressAdapter as NestExpressAdapter } from '@nestjs/platform-express';

/** Node creates the messages with Express's prototypes, so that Express need not replace them on every request. */
export class ExpressAdapter extends NestExpressAdapter {
  override initHttpServer(): void {
    const app = this.getInstance<http.RequestListener & { request: object; response: object }>();
    function IncomingMessage(this: http.IncomingMessage, ...args: ConstructorParameters<typeof http.IncomingMessage>) {
      http.IncomingMessage.apply(this, args);
    }
    function ServerResponse(this: http.ServerResponse, ...args: ConstructorParameters<typeof http.ServerResponse>) {
      http.ServerResponse.apply(this, args);
    }
    IncomingMessage.prototype = app.request;
    ServerResponse.prototype = app.response;
    this.httpServer = http.createServer({ IncomingMessage, ServerResponse } as unknown as http.ServerOptions, app);
  }
}
