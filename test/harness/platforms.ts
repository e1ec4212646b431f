import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import {
  type DynamicModule,
  type INestApplication,
  type LoggerService,
  Module,
  type ModuleMetadata,
  type NestApplicationOptions,
  type Type,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ExpressAdapter as OwnExpressAdapter } from 'declarest/express';

export type Platform = 'express' | 'fastify';

/**
 * For `describe.each(PLATFORMS)('[2.3] register on %s', (platform) => …)`, in specs of what reads requests or writes headers:
 * routes, bodies, cookies, tokens, addresses. They run on one database, unless they say why not. `TEST_PLATFORM` names the only
 * one, for runs on database servers: what reads requests has run on SQLite on both.
 */
export const PLATFORMS: readonly Platform[] = process.env['TEST_PLATFORM']
  ? [process.env['TEST_PLATFORM'] as Platform]
  : ['express', 'fastify'];

/** For all other specs: accounts, codes, keys, races and SQL are the same on both. `DATABASES` multiplies those of SQL. */
export const ONE_PLATFORM: readonly Platform[] = ['express'];

export type RootModule = Type | DynamicModule | ModuleMetadata;

export interface StartOptions {
  /** What `main.ts` would do between `create` and `listen`. */
  configure?: (app: INestApplication) => void | Promise<void>;
  /** Replaces the capturing logger; `logs` then stays empty. */
  logger?: LoggerService;
  nestOptions?: NestApplicationOptions;
  adapter?: FastifyAdapter | ExpressAdapter;
  /** Runs after the application is closed, and after a boot that failed. */
  onClose?: () => void | Promise<void>;
}

export interface RunningApp {
  app: INestApplication;
  /** `http://127.0.0.1:<port>` */
  url: string;
  port: number;
  /** Every line logged so far: `warn [Context] message`. Grows while the application runs. */
  logs: string[];
  close: () => Promise<void>;
}

/** Boots a real application on a free port of 127.0.0.1. A boot that fails leaves nothing behind and rejects. */
export async function startApp(platform: Platform, root: RootModule, options: StartOptions = {}): Promise<RunningApp> {
  return start(platform, root, options, []);
}

/** The error with which the boot failed. Rejects when it did not fail. */
export async function bootError(platform: Platform, root: RootModule, options: StartOptions = {}): Promise<Error> {
  let running: RunningApp;
  try {
    running = await startApp(platform, root, options);
  } catch (error) {
    if (error instanceof Error) return error;
    throw new TypeError(`The boot failed with a value that is not an Error: ${inspect(error)}`, { cause: error });
  }
  await running.close();
  throw new Error('The application was expected to refuse to boot, but it is up.');
}

/** What was logged until the application was up, or until its boot failed. */
export async function loggedAtBoot(
  platform: Platform,
  root: RootModule,
  options: StartOptions = {},
): Promise<{ logs: string[]; error: unknown }> {
  const logs: string[] = [];
  try {
    const running = await start(platform, root, options, logs);
    const atBoot = [...logs];
    await running.close();
    return { logs: atBoot, error: undefined };
  } catch (error) {
    return { logs, error };
  }
}

/** The lines of one level: `linesOf(running.logs, 'warn')`. */
export function linesOf(logs: readonly string[], level: Level): string[] {
  return logs.filter((line) => line.startsWith(`${level} `));
}

async function start(platform: Platform, root: RootModule, options: StartOptions, logs: string[]): Promise<RunningApp> {
  let app: INestApplication | undefined;
  const close = once(async () => {
    open.delete(close);
    await app?.close();
    await options.onClose?.();
  });
  open.add(close);
  try {
    app = await NestFactory.create<INestApplication>(moduleOf(root), options.adapter ?? adapterFor(platform), {
      ...options.nestOptions,
      logger: options.logger ?? capturingLogger(logs),
      abortOnError: false,
    });
    await options.configure?.(app);
    await app.listen(0, '127.0.0.1');
    // A client of a test on a slow machine may use a kept connection in the moment in which it ends after 5 s.
    app.getHttpServer().keepAliveTimeout = 0;
  } catch (error) {
    // The first error is the one to report.
    await close().catch(() => undefined);
    throw error;
  }
  const { port } = app.getHttpServer().address() as AddressInfo;
  return { app, url: `http://127.0.0.1:${port}`, port, logs, close };
}

function once(action: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => (done ??= action());
}

/** A failed test may leave its application open, which would keep the worker and the database alive. */
const open = new Set<() => Promise<void>>();
afterAll(async () => {
  await Promise.all([...open].map((close) => close()));
});

export function adapterFor(platform: Platform): ExpressAdapter | FastifyAdapter {
  if (platform === 'fastify') return new FastifyAdapter({ forceCloseConnections: true });
  // CI runs some suites again on the package's own adapter.
  return process.env['TEST_EXPRESS_ADAPTER'] === 'own' ? new OwnExpressAdapter() : new ExpressAdapter();
}

function moduleOf(root: RootModule): Type | DynamicModule {
  if (typeof root === 'function' || 'module' in root) return root;
  @Module(root)
  class TestRootModule {}
  return TestRootModule;
}

const LEVELS = ['log', 'error', 'warn', 'debug', 'verbose', 'fatal'] as const;
type Level = (typeof LEVELS)[number];

/**
 * Stores what an application logs. Nest has one logger per process for `new Logger(…)`: of two applications in one test
 * file, the one started last gets those lines.
 */
function capturingLogger(logs: string[]): LoggerService {
  const write =
    (level: Level) =>
    (message: unknown, ...rest: unknown[]): void => {
      // Nest passes the context as the last parameter, after the stack of an error.
      const context = typeof rest.at(-1) === 'string' ? `[${rest.pop() as string}] ` : '';
      logs.push(`${level} ${context}${[message, ...rest].map(textOf).join(' ')}`);
    };
  return Object.fromEntries(LEVELS.map((level) => [level, write(level)])) as Record<Level, ReturnType<typeof write>>;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : inspect(value, { depth: 6 });
}
