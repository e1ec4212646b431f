// Creates the application for main.ts and for tests.
import type { INestApplication, NestApplicationOptions } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express'; // {{PLATFORM_IMPORT}}
import { AppModule, configure } from './app.module.js';
import { trustProxy } from './environment.js';

export async function createApp(options: NestApplicationOptions = {}): Promise<INestApplication> {
  const app = await NestFactory.create<NestExpressApplication>(AppModule, options); // {{CREATE_APP}}
  app.set('trust proxy', trustProxy); // {{TRUST_PROXY}}
  configure(app);
  return app;
}
