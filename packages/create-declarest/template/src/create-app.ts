// Creates the application for main.ts and for tests.
import type { INestApplication, NestApplicationOptions } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express'; // {{PLATFORM_IMPORT}}
import { AppModule, configure } from './app.module.js';

export async function createApp(options: NestApplicationOptions = {}): Promise<INestApplication> {
  const app = await NestFactory.create<NestExpressApplication>(AppModule, options); // {{CREATE_APP}}
  configure(app);
  return app;
}
