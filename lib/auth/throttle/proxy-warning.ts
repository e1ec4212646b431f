import { Logger } from '@nestjs/common';
import type { HttpRequest } from '../../http/http-request.js';
import type { HttpAdapter } from '../../routes/route-table.js';

const FORWARDED = ['x-forwarded-for', 'forwarded'];

/** Warns once, at the first request that a proxy forwards where none is trusted: all clients then share its address. */
export class ProxyWarning {
  private isDone = false;

  check(request: HttpRequest, adapter: HttpAdapter | undefined): void {
    const { headers, ip, ips } = request;
    // The handshake of a WebSocket has no address.
    if (this.isDone || ip === undefined) return;
    const header = FORWARDED.find((name) => headers[name] !== undefined);
    if (!adapter || header === undefined) return;
    this.isDone = true;
    const isFastify = adapter.getType() === 'fastify';
    const isTrusted = isFastify
      ? ips !== undefined
      : adapter.getInstance<{ enabled(name: string): boolean }>().enabled('trust proxy');
    const setting = isFastify ? "new FastifyAdapter({ trustProxy: 'loopback' })" : "app.set('trust proxy', 'loopback')";
    if (!isTrusted)
      new Logger('AuthModule').warn(
        `A request has the header ${header}, but no proxy is trusted: behind one, all clients share its address, and failed logins of one lock out the others. Name the proxy, such as by ${setting}.`,
      );
  }
}
