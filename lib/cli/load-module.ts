/** Loads the one Nest module that a compiled file exports. */
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DynamicModule, INestApplication, Type } from '@nestjs/common';
import { isClass } from '../options/invalid-option.js';
import { CommandError, reasonOf } from './command-error.js';

export type NestModule = Type | DynamicModule;

export interface LoadedModule {
  readonly module: NestModule;
  /** Prepares the application as `main.ts` does, before its routes are registered. */
  readonly configure: ((app: INestApplication) => unknown) | undefined;
}

/** @throws CommandError */
export async function loadModule(path: string): Promise<LoadedModule> {
  const file = resolve(path);
  if (!statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new CommandError(`There is no file ${JSON.stringify(path)}. Give the compiled app module.`);
  if (!canExport(readFileSync(file, 'utf8')))
    throw new CommandError(
      `${JSON.stringify(path)} exports nothing and was not loaded, because it may start the application. Give the file that exports the app module.`,
    );
  const exported = (await import(pathToFileURL(file).href).catch((cause: unknown) => {
    throw new CommandError(`${JSON.stringify(path)} cannot be loaded: ${reasonOf(cause)}.`, { cause });
  })) as Readonly<Record<string, unknown>>;
  return { module: onlyModule(path, exported), configure: configureOf(path, exported) };
}

/** Comment lines, and what TypeScript writes into every module, also into one without exports. */
const WITHOUT_EXPORT =
  /^\s*(?:\/\/.*|\/?\*(?:(?!\*\/).)*)|\bexport\s*\{\s*\}|Object\.defineProperty\(exports,\s*["']__esModule["'],\s*\{[^}]*\}\)/gm;

/** `export …`, and of a CommonJS file `exports.x`, `module.exports` and `exports` as an argument. */
const EXPORT = /(?:^|[;}]|\*\/)\s*export\b|\bexports\s*[.[=,)]/m;

const canExport = (source: string): boolean => EXPORT.test(source.replace(WITHOUT_EXPORT, ''));

/** A CommonJS file exports each value twice: by its name, and as a property of `default`. */
function onlyModule(path: string, exported: Readonly<Record<string, unknown>>): NestModule {
  const modules = new Map<NestModule, string>();
  for (const [name, value] of Object.entries(exported)) if (isNestModule(value)) modules.set(value, name);
  const [first, ...others] = modules.keys();
  if (first === undefined)
    throw new CommandError(`${JSON.stringify(path)} exports no Nest module. Export exactly one from it.`);
  if (others.length > 0)
    throw new CommandError(
      `${JSON.stringify(path)} exports ${modules.size} Nest modules (${[...modules.values()].join(', ')}). Export exactly one from it.`,
    );
  return first;
}

const METADATA = ['imports', 'controllers', 'providers', 'exports'];

/** A class with `@Module()` that is not empty, or a dynamic module. */
function isNestModule(value: unknown): value is NestModule {
  if (typeof value === 'object' && value !== null && 'module' in value) return isClass(value.module);
  return isClass(value) && METADATA.some((key) => Reflect.hasMetadata(key, value));
}

function configureOf(path: string, { configure }: Readonly<Record<string, unknown>>): LoadedModule['configure'] {
  if (configure === undefined || typeof configure === 'function') return configure as LoadedModule['configure'];
  throw new CommandError(`The export "configure" of ${JSON.stringify(path)} must be a function.`);
}
