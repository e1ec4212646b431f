/** The declaration of each generated controller, and what is compiled from it. */
import type { DataSource, Repository } from 'typeorm';
import type { ResolvedCrudOptions } from './crud-options.js';
import { Operations } from './operations.js';
import { compileResource, type Resource } from './resource/resource.js';

const DECLARATION = Symbol('declarest.crud');

export function rememberDeclaration(controller: object, options: ResolvedCrudOptions): void {
  Reflect.defineMetadata(DECLARATION, options, controller);
}

/** The declaration of a generated controller or a subclass of one; `undefined` for any other class. */
export function declarationOf(controller: object): ResolvedCrudOptions | undefined {
  return Reflect.getMetadata(DECLARATION, controller) as ResolvedCrudOptions | undefined;
}

/** Whether a class is a generated one itself, and no subclass of it. */
export const isGenerated = (controller: object): boolean => Reflect.hasOwnMetadata(DECLARATION, controller);

/** By data source or repository, because two applications in one process may share a declaration. */
const compiled = new WeakMap<object, WeakMap<object, unknown>>();

/** @throws InvalidOptionError where the declaration does not fit the data source */
export function resourceFor<T extends object>(options: ResolvedCrudOptions<T>, dataSource: DataSource): Resource<T> {
  return compileOnce(dataSource, options, () => compileResource(options, dataSource));
}

/** Made on first use: 500 resources would delay the start. */
export function operationsFor<T extends object>(
  options: ResolvedCrudOptions<T>,
  dataSource: DataSource,
  repository: Repository<T>,
): Operations<T> {
  const compile = (): Operations<T> => new Operations(resourceFor(options, dataSource), repository, dataSource);
  return compileOnce(repository, options, compile);
}

function compileOnce<V>(owner: object, options: object, compile: () => V): V {
  const own = compiled.get(owner) ?? new WeakMap<object, unknown>();
  compiled.set(owner, own);
  if (!own.has(options)) own.set(options, compile());
  return own.get(options) as V;
}
