/** Which platform a front stands before. */
import type { HttpAdapterHost } from '@nestjs/core';
import type { RouteTable } from '../routes/route-table.js';
import { BeforeExpress } from './before-express.js';
import { BeforeFastify } from './before-fastify.js';
import { Front } from './front.js';

export const frontBefore = (adapter: HttpAdapterHost['httpAdapter'], table: RouteTable): Front =>
  new Front(adapter.getType() === 'fastify' ? new BeforeFastify(adapter, table) : new BeforeExpress(adapter, table));
