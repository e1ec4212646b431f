import type { HttpAdapterHost } from '@nestjs/core';
import { nestsPrototype } from '../routes/nests-adapter.js';
import { RouteTable } from '../routes/route-table.js';
import { watchExpress } from './express-text.js';
import { watchFastify } from './fastify-text.js';
import { textWriters } from './json-answer.js';

type Adapter = HttpAdapterHost['httpAdapter'];

/** Lets answers that know their JSON be written as texts. To be called from the constructor of a provider, before any route exists. */
export function sendJsonTexts(host: HttpAdapterHost): void {
  RouteTable.watch(host, () => {
    const { httpAdapter } = host;
    if (textWriters.has(httpAdapter)) return;
    const isNests = repliesAsNest(httpAdapter);
    const isFastify = httpAdapter.getType() === 'fastify';
    const write = isFastify ? watchFastify(httpAdapter, isNests) : watchExpress(httpAdapter.getInstance());
    textWriters.set(httpAdapter, { write, reply: isNests && httpAdapter.reply });
  });
}

/** And not as a subclass or a tool would have it. */
const repliesAsNest = (adapter: Adapter): boolean =>
  adapter.reply === nestsPrototype(adapter)?.reply && adapter.reply.name === 'reply';
