// Creates the application for main.ts and for tests.
import type { INestApplication, NestApplicationOptions } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
// {{PLATFORM_IMPORT}}
import { AppModule, configure } from './app.module.js';

export async function createApp(options: NestApplicationOptions = {}): Promise<INestApplication> {
  const app = await NestFactory.create(AppModule, options); // {{CREATE_APP}}
  configure(app);
  return app;
}
