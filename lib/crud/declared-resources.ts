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

type Declared = ResolvedCrudOptions<never>;

/** Two applications in one process have two data sources. */
const resources = new WeakMap<DataSource, WeakMap<Declared, Resource<never>>>();
const operations = new WeakMap<object, WeakMap<Declared, Operations<never>>>();

function resourceFor<T extends object>(options: ResolvedCrudOptions<T>, dataSource: DataSource): Resource<T> {
  const compile = (): Resource<never> => compileResource(options, dataSource) as unknown as Resource<never>;
  return remembered(resources, dataSource, options, compile) as unknown as Resource<T>;
}

/**
 * To be called at startup.
 *
 * @throws InvalidOptionError where the declaration does not fit the data source
 */
export function assertCompilable(options: ResolvedCrudOptions, dataSource: DataSource): void {
  resourceFor(options, dataSource);
}

/** Made on first use: 500 resources would delay the start. */
export function operationsFor<T extends object>(
  options: ResolvedCrudOptions<T>,
  dataSource: DataSource,
  repository: Repository<T>,
): Operations<T> {
  const make = (): Operations<never> =>
    new Operations(resourceFor(options, dataSource), repository, dataSource) as unknown as Operations<never>;
  return remembered(operations, repository, options, make) as unknown as Operations<T>;
}

function remembered<K extends object, V>(
  all: WeakMap<K, WeakMap<Declared, V>>,
  key: K,
  options: object,
  make: () => V,
): V {
  const own = all.get(key) ?? new WeakMap<Declared, V>();
  all.set(key, own);
  const known = own.get(options as Declared);
  if (known !== undefined) return known;
  const made = make();
  own.set(options as Declared, made);
  return made;
}
