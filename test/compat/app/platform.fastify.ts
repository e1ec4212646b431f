import { FastifyAdapter } from '@nestjs/platform-fastify';

export const createAdapter = (): FastifyAdapter => new FastifyAdapter();
