import type { HttpAdapterHost } from '@nestjs/core';
import { RouteTable } from '../routing/route-table.js';
import { watchExpress } from './express-text.js';
import { watchFastify } from './fastify-text.js';
import { textWriters } from './json-answer.js';

/** Lets answers that know their JSON be written as texts. To be called from the constructor of a provider, before any route exists. */
export function sendJsonTexts(host: HttpAdapterHost): void {
  RouteTable.watch(host, (table) => {
    const { httpAdapter } = host;
    if (textWriters.has(httpAdapter)) return;
    const isFastify = httpAdapter.getType() === 'fastify';
    const write = isFastify ? watchFastify(table, httpAdapter.getInstance()) : watchExpress(httpAdapter.getInstance());
    textWriters.set(httpAdapter, write);
  });
}
