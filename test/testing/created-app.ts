import type { INestApplication } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { SecurityRulesGuard } from 'declarest';
import type { Platform } from '../harness/platforms.js';
import { type Entry, ruledModule, type RuledParts } from '../access/ruled-app.js';

export interface CreatedApp {
  readonly app: INestApplication;
  /** The handlers that ran. */
  readonly entered: Entry[];
}

/** As a user's own test makes an application: with `@nestjs/testing`, and not yet listening. */
export async function createRuled(
  platform: Platform,
  parts: RuledParts,
  guard?: Pick<SecurityRulesGuard, 'canActivate'>,
): Promise<CreatedApp> {
  const entered: Entry[] = [];
  const builder = Test.createTestingModule(ruledModule(parts, entered));
  if (guard) builder.overrideProvider(SecurityRulesGuard).useValue(guard);
  const adapter = platform === 'express' ? new ExpressAdapter() : new FastifyAdapter({ forceCloseConnections: true });
  const app = (await builder.compile()).createNestApplication<INestApplication>(adapter, { logger: false });
  await parts.configure?.(app);
  return { app, entered };
}
