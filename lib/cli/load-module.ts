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

export async function loadModule(path: string): Promise<LoadedModule> {
  const file = resolve(path);
  const name = JSON.stringify(path);
  if (!statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new CommandError(`There is no file ${name}. Give the compiled app module.`);
  if (!EXPORT.test(readFileSync(file, 'utf8').replace(WITHOUT_EXPORT, '')))
    throw new CommandError(
      `${name} exports nothing and was not loaded, because it may start the application. Give the file that exports the app module.`,
    );
  const exported = (await import(pathToFileURL(file).href).catch((cause: unknown) => {
    throw new CommandError(`${name} cannot be loaded: ${reasonOf(cause)}.`, { cause });
  })) as Readonly<Record<string, unknown>>;
  const module = onlyModule(name, exported);
  const { configure } = exported;
  if (configure !== undefined && typeof configure !== 'function')
    throw new CommandError(`The export "configure" of ${name} must be a function.`);
  return { module, configure: configure as LoadedModule['configure'] };
}

/** Comment lines, and what TypeScript writes into every module, also into one without exports. */
const WITHOUT_EXPORT =
  /^\s*(?:\/\/.*|\/?\*(?:(?!\*\/).)*)|\bexport\s*\{\s*\}|Object\.defineProperty\(exports,\s*["']__esModule["'],\s*\{[^}]*\}\)/gm;

/** `export …`, and of a CommonJS file `exports.x`, `module.exports` and `exports` as an argument. */
const EXPORT = /(?:^|[;}]|\*\/)\s*export\b|\bexports\s*[.[=,)]/m;

/** A CommonJS file exports each value twice: by its name, and as a property of `default`. */
function onlyModule(file: string, exported: Readonly<Record<string, unknown>>): NestModule {
  const modules = new Map<NestModule, string>();
  for (const [name, value] of Object.entries(exported)) if (isNestModule(value)) modules.set(value, name);
  const [first, ...others] = modules.keys();
  if (first !== undefined && others.length === 0) return first;
  const found =
    first === undefined ? 'no Nest module' : `${modules.size} Nest modules (${[...modules.values()].join(', ')})`;
  throw new CommandError(`${file} exports ${found}. Export exactly one from it.`);
}

const METADATA = ['imports', 'controllers', 'providers', 'exports'];

/** A class with `@Module()` that is not empty, or a dynamic module. */
function isNestModule(value: unknown): value is NestModule {
  if (typeof value === 'object' && value !== null && 'module' in value) return isClass(value.module);
  return isClass(value) && METADATA.some((key) => Reflect.hasMetadata(key, value));
}
