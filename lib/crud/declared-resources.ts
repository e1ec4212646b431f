/** What was declared of each generated controller, and what is compiled from it for a data source. */
import type { DataSource } from 'typeorm';
import type { ResolvedCrudOptions } from './crud.options.js';
import { Operations } from './operations.js';
import { compileResource, type Resource } from './resource.js';

const DECLARATION = Symbol('declarest.crud');

export function rememberDeclaration(controller: object, options: ResolvedCrudOptions): void {
  Reflect.defineMetadata(DECLARATION, options, controller);
}

/** The declaration of a generated controller or a subclass of one; `undefined` for any other class. */
export function declarationOf(controller: object): ResolvedCrudOptions | undefined {
  return Reflect.getMetadata(DECLARATION, controller) as ResolvedCrudOptions | undefined;
}

/** Whether a class is a generated one, and no subclass of it. */
export const isGenerated = (controller: object): boolean => Reflect.hasOwnMetadata(DECLARATION, controller);

/** Of one declaration and one data source. */
interface Compiled<T extends object> {
  readonly resource: Resource<T>;
  operations?: Operations<T>;
}

const compiled = new WeakMap<DataSource, WeakMap<ResolvedCrudOptions<never>, Compiled<never>>>();

/** Kept: two applications in one process have two data sources. */
function compiledFor<T extends object>(options: ResolvedCrudOptions<T>, dataSource: DataSource): Compiled<T> {
  const ofSource = compiled.get(dataSource) ?? new WeakMap<ResolvedCrudOptions<never>, Compiled<never>>();
  compiled.set(dataSource, ofSource);
  const key = options as unknown as ResolvedCrudOptions<never>;
  const known = ofSource.get(key) as unknown as Compiled<T> | undefined;
  if (known) return known;
  const made: Compiled<T> = { resource: compileResource(options, dataSource) };
  ofSource.set(key, made as unknown as Compiled<never>);
  return made;
}

/**
 * To be called at boot.
 *
 * @throws InvalidOptionError where the declaration does not fit the data source
 */
export function expectCompilable(options: ResolvedCrudOptions, dataSource: DataSource): void {
  compiledFor(options, dataSource);
}

/** Made when first asked for: 500 resources would wait for what most of them need much later. */
export function operationsFor<T extends object>(
  options: ResolvedCrudOptions<T>,
  dataSource: DataSource,
): Operations<T> {
  const found = compiledFor(options, dataSource);
  return (found.operations ??= new Operations(found.resource, dataSource));
}
