/**
 * Boots an application as far as its routes and rules: no port is opened, no database is connected to, no lifecycle hook
 * of the application runs.
 *
 * Neither Nest nor TypeORM has a public way to do so. `preview: true` makes no providers, and with them no rules. So this
 * file, and it alone, replaces
 * - `callInitHook` and `callBootstrapHook`, protected methods of Nest's application, by the hooks of `SecurityRules`;
 * - `registerWsModule`, because a gateway with a port of its own would open it;
 * - `DataSource.prototype.initialize` by the second half of it, which reads the entities;
 * - `listen` of every server, and `process.exit`, for files that start the application when they are loaded.
 * What is not there any more is an error, and never a hook that runs after all; test/cli/boot-without-effects.spec.ts
 * tells when that happens.
 */
import { Server } from 'node:net';
import type { INestApplication, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { SecurityRules } from '../access/security-rules.js';
import { PLATFORMS, type Platform } from './arguments.js';
import { CommandError, reasonOf } from './command-error.js';
import type { LoadedModule } from './load-module.js';

type Adapter = Parameters<typeof NestFactory.create>[1] & object;

/** @throws CommandError */
export async function bootWithoutEffects(
  load: () => LoadedModule | Promise<LoadedModule>,
  platform: Platform | undefined,
): Promise<INestApplication> {
  return withoutEffects(async () => {
    const { module, configure } = await load();
    const adapter = await adapterFor(platform);
    try {
      const app = await NestFactory.create(module, adapter as never, { logger: false, abortOnError: false });
      await configure?.(app);
      const rules = rulesOf(app);
      replace(app, 'registerWsModule', () => Promise.resolve());
      replace(app, 'callInitHook', async () => rules.onModuleInit());
      replace(app, 'callBootstrapHook', () => rules.onApplicationBootstrap());
      return await app.init();
    } catch (cause) {
      if (cause instanceof CommandError) throw cause;
      throw new CommandError(`The application does not start: ${reasonOf(cause)}.`, { cause });
    }
  });
}

async function withoutEffects<T>(work: () => Promise<T>): Promise<T> {
  const { buildMetadatas } = DataSource.prototype as unknown as { buildMetadatas?: () => Promise<void> };
  if (typeof buildMetadatas !== 'function')
    throw new CommandError('This version of TypeORM is not supported: its DataSource cannot be kept from connecting.');
  const refuse = (what: string) => (): never => {
    throw new CommandError(
      `The application ${what} while it is loaded: give the file of its module, not the one that starts it.`,
    );
  };
  const restore = [
    replace(DataSource.prototype, 'initialize', async function (this: DataSource) {
      await buildMetadatas.call(this);
      return this;
    }),
    replace(Server.prototype, 'listen', refuse('opens a port')),
    replace(process, 'exit', refuse('ends the process')),
  ];
  try {
    return await work();
  } finally {
    for (const each of restore) each();
  }
}

function rulesOf(app: INestApplication): SecurityRules {
  try {
    return app.get(SecurityRules, { strict: false });
  } catch (cause) {
    throw new CommandError(
      'The application has no rules to tell of: it does not import the AuthModule of this package.',
      {
        cause,
      },
    );
  }
}

/** `create` hands out a proxy that ignores assignments; a definition arrives at the application itself. */
function replace(target: object, method: string, value: (...args: never[]) => unknown): () => void {
  const original: unknown = Reflect.get(target, method);
  if (typeof original !== 'function')
    throw new CommandError(`This version of Nest or TypeORM is not supported: it has no ${method}.`);
  const define = (value: unknown): void =>
    void Object.defineProperty(target, method, { value, writable: true, configurable: true });
  define(value);
  return () => define(original);
}

async function adapterFor(platform: Platform | undefined): Promise<Adapter> {
  let missing: unknown;
  for (const each of platform ? [platform] : PLATFORMS) {
    try {
      return new (await ADAPTERS[each]())() as Adapter;
    } catch (cause) {
      missing = cause;
    }
  }
  throw new CommandError(`@nestjs/platform-${platform ?? 'express'} cannot be loaded: ${reasonOf(missing)}.`, {
    cause: missing,
  });
}

const ADAPTERS: Readonly<Record<Platform, () => Promise<Type>>> = {
  express: async () => (await import('@nestjs/platform-express')).ExpressAdapter,
  fastify: async () => (await import('@nestjs/platform-fastify')).FastifyAdapter,
};
