// Creates the application for main.ts and for tests.
import type { INestApplication, NestApplicationOptions } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express'; // {{PLATFORM_IMPORT}}
import { requestIds } from 'declarest/observe';
import { AppModule, configure } from './app.module.js';
import { trustProxy } from './environment.js';
import { logger, logRequest } from './request-log.js';

export async function createApp(options: NestApplicationOptions = { logger }): Promise<INestApplication> {
  const adapter = new ExpressAdapter(); // {{ADAPTER}}
  // Before the access rules, so that their refusals have an id and are logged.
  adapter.use(requestIds());
  adapter.use(logRequest);
  const app = await NestFactory.create<NestExpressApplication>(AppModule, adapter, options); // {{CREATE_APP}}
  app.set('trust proxy', trustProxy); // {{TRUST_PROXY}}
  configure(app);
  return app;
}
