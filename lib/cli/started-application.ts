/** Starts an application without a server: its data sources connect, and its lifecycle hooks run. */
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { CommandError, reasonOf } from './command-error.js';
import { loadModule } from './load-module.js';

/** @throws CommandError where the application does not start, and where the work fails */
export async function inStartedApplication<R>(
  file: string,
  work: (app: INestApplicationContext) => Promise<R>,
): Promise<R> {
  const { module } = await loadModule(file);
  const app = await NestFactory.createApplicationContext(module, {
    abortOnError: false,
    logger: ['error', 'warn'],
  }).catch((cause: unknown) => {
    throw new CommandError(`The application does not start: ${reasonOf(cause)}.`, { cause });
  });
  try {
    return await work(app);
  } catch (cause) {
    throw cause instanceof CommandError ? cause : new CommandError(`${reasonOf(cause)}.`, { cause });
  } finally {
    await app.close();
  }
}
