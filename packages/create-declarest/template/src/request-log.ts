// The log: a line for each request. In production, lines are JSON, and those that the code of a request logs have its id.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ConsoleLogger, Logger, type LogLevel } from '@nestjs/common';
import { requestIdOf } from 'declarest/observe';
import { isProduction } from './environment.js';

class RequestLogger extends ConsoleLogger {
  protected override getJsonLogObject(message: unknown, options: { context: string; logLevel: LogLevel }) {
    return { requestId: requestIdOf(), ...super.getJsonLogObject(message, options) };
  }
}

export const logger = new RequestLogger({ json: isProduction, flattenParams: true });
const requests = new Logger('Request');

/** Middleware. It logs no query, header or body: they may contain secrets. */
export function logRequest(request: IncomingMessage, response: ServerResponse, next: () => void): void {
  const { method, url = '' } = request;
  const start = performance.now();
  response.once('close', () => {
    const status = response.writableFinished ? response.statusCode : 'aborted';
    const ms = Math.round(performance.now() - start);
    requests.log(`${method} ${url.replace(/\?.*/, '')}`, { status, ms, requestId: requestIdOf(request) });
  });
  next();
}
