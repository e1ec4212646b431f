/** The one Nest module that a compiled file exports. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DynamicModule, INestApplication, Type } from '@nestjs/common';
import { isClass } from '../options/invalid-option.js';
import { CommandError, reasonOf } from './command-error.js';

export type NestModule = Type | DynamicModule;

export interface LoadedModule {
  readonly module: NestModule;
  /** What `main.ts` would say to the application before its routes are registered. */
  readonly configure: ((app: INestApplication) => unknown) | undefined;
}

/** @throws CommandError */
export async function loadModule(path: string): Promise<LoadedModule> {
  const file = resolve(path);
  if (!statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new CommandError(`There is no file ${JSON.stringify(path)}: give the compiled app module.`);
  let exported: Readonly<Record<string, unknown>>;
  try {
    exported = (await import(pathToFileURL(file).href)) as Readonly<Record<string, unknown>>;
  } catch (cause) {
    if (cause instanceof CommandError) throw cause;
    throw new CommandError(`${JSON.stringify(path)} cannot be loaded: ${reasonOf(cause)}.`, { cause });
  }
  return { module: onlyModule(path, exported), configure: configureOf(path, exported) };
}

/** Of a CommonJS file, `default` holds all that the other names hold one by one. */
function onlyModule(path: string, exported: Readonly<Record<string, unknown>>): NestModule {
  const modules = new Map<NestModule, string>();
  for (const [name, value] of Object.entries(exported)) if (isNestModule(value)) modules.set(value, name);
  const [first, ...others] = modules.keys();
  if (first === undefined)
    throw new CommandError(`${JSON.stringify(path)} exports no Nest module: export exactly one from it.`);
  if (others.length > 0)
    throw new CommandError(
      `${JSON.stringify(path)} exports ${modules.size} Nest modules (${[...modules.values()].join(', ')}): export exactly one from it.`,
    );
  return first;
}

const METADATA = ['imports', 'controllers', 'providers', 'exports'];

/** What `@Module` was written on, and says anything; or what `forRoot` and the like return. */
function isNestModule(value: unknown): value is NestModule {
  if (typeof value === 'object' && value !== null && 'module' in value) return isClass(value.module);
  return isClass(value) && METADATA.some((key) => Reflect.hasMetadata(key, value));
}

function configureOf(path: string, { configure }: Readonly<Record<string, unknown>>): LoadedModule['configure'] {
  if (configure === undefined || typeof configure === 'function') return configure as LoadedModule['configure'];
  throw new CommandError(`${JSON.stringify(path)} exports a "configure" that is no function.`);
}
